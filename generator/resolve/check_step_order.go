package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// checkStepOrder reports steps of one event that stand on the wrong side of a foreign key
// (E514). A wave may end between two steps of an event (runtime/wire/wave.go): then they
// run in spec order, and Postgres checks foreign keys at each statement. Within one wave
// parents are written first and deleted last, so that such an event would succeed or fail
// by what else is in its batch.
func checkStepOrder(report *schema.Diagnostics, d *draft) {
	for _, e := range d.events() {
		checkEventOrder(report, d.tables, e)
	}
}

func checkEventOrder(report *schema.Diagnostics, tables *tables, e *event) {
	for i, st := range e.steps {
		if !st.whole {
			continue
		}
		later := e.steps[i+1:]
		if st.model.Removes {
			checkDeleteOrder(report, deletedWith(tables, st.model.Table), st, later)
			continue
		}
		var reported []*model.Table
		for _, row := range reads(st.model) {
			makes := func(o *step) bool {
				return o.model.Table == row.Table && o.model.Makes
			}
			if row.Table != st.model.Table && slices.ContainsFunc(later, makes) && !slices.Contains(reported, row.Table) {
				reported = append(reported, row.Table)
				failStepOrder(report, st, fmt.Sprintf("written before their parents in %s", quote(row.Table.Name)), row.Table)
			}
		}
	}
}

// checkDeleteOrder reports a delete before the steps that take away what would refuse it.
// Gone are the tables that lose rows with it.
func checkDeleteOrder(report *schema.Diagnostics, gone []*model.Table, st *step, later []*step) {
	var reported []*model.Table
	for _, o := range later {
		if !o.whole || o.model.Table == st.model.Table || slices.Contains(reported, o.model.Table) {
			continue
		}
		for _, fk := range o.model.Table.ForeignKeys {
			if fk.OnDelete != "restrict" || !slices.Contains(gone, fk.References) || !unlinks(o.model, fk) {
				continue
			}
			reported = append(reported, o.model.Table)
			what := "their children in " + quote(o.model.Table.Name)
			if !o.model.Removes {
				what = o.is() + ", which may refer to them until then"
			}
			failStepOrder(report, st, "deleted before "+what, o.model.Table)
			break
		}
	}
}

func failStepOrder(report *schema.Diagnostics, st *step, what string, first *model.Table) {
	report.Add(st.spec.Table.Pos, "E514", fmt.Sprintf("%s: rows of %s are %s", st.event.is(), quote(st.model.Table.Name), what),
		fmt.Sprintf("move the step on %s before this one", quote(first.Name)))
}

// deletedWith are t and the tables whose rows a delete in t deletes by cascades.
func deletedWith(ts *tables, t *model.Table) []*model.Table {
	gone := []*model.Table{t}
	for i := 0; i < len(gone); i++ {
		for _, child := range ts.all {
			cascade := slices.ContainsFunc(child.model.ForeignKeys, func(fk model.ForeignKey) bool {
				return fk.References == gone[i] && fk.OnDelete == "cascade"
			})
			if cascade && !slices.Contains(gone, child.model) {
				gone = append(gone, child.model)
			}
		}
	}
	return gone
}
