package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/waves"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkStepOrder reports steps of one event that stand on the wrong side of a foreign key
// (E514). A wave may end between two steps of an event (runtime/wire/wave.go): then they
// run in spec order, and Postgres checks foreign keys at each statement. Within one wave
// parents are written first and deleted last, so that such an event would succeed or fail
// by what else is in its batch.
func checkStepOrder(report *syntax.Diagnostics, d *draft.Service) {
	for _, e := range d.Events() {
		checkEventOrder(report, d.Tables, e)
	}
}

func checkEventOrder(report *syntax.Diagnostics, tables *draft.Tables, e *draft.Event) {
	for i, st := range e.Steps {
		if !st.Whole {
			continue
		}
		later := e.Steps[i+1:]
		if st.Model.Removes {
			checkDeleteOrder(report, deletedWith(tables, st.Model.Table), st, later)
			continue
		}
		var reported []*model.Table
		for _, row := range waves.Reads(st.Model) {
			makes := func(o *draft.Step) bool {
				return o.Model.Table == row.Table && o.Model.Makes
			}
			if row.Table != st.Model.Table && slices.ContainsFunc(later, makes) && !slices.Contains(reported, row.Table) {
				reported = append(reported, row.Table)
				failStepOrder(report, st, fmt.Sprintf("written before their parents in %s", wording.Quote(row.Table.Name)), row.Table)
			}
		}
	}
}

// checkDeleteOrder reports a delete before the steps that take away what would refuse it.
// Gone are the tables that lose rows with it.
func checkDeleteOrder(report *syntax.Diagnostics, gone []*model.Table, st *draft.Step, later []*draft.Step) {
	var reported []*model.Table
	for _, o := range later {
		if !o.Whole || o.Model.Table == st.Model.Table || slices.Contains(reported, o.Model.Table) {
			continue
		}
		for _, fk := range o.Model.Table.ForeignKeys {
			if fk.OnDelete != "restrict" || !slices.Contains(gone, fk.References) || !waves.Unlinks(o.Model, fk) {
				continue
			}
			reported = append(reported, o.Model.Table)
			what := "their children in " + wording.Quote(o.Model.Table.Name)
			if !o.Model.Removes {
				what = o.Is() + ", which may refer to them until then"
			}
			failStepOrder(report, st, "deleted before "+what, o.Model.Table)
			break
		}
	}
}

func failStepOrder(report *syntax.Diagnostics, st *draft.Step, what string, first *model.Table) {
	report.Add(st.Spec.Table.Pos, "E514", fmt.Sprintf("%s: rows of %s are %s", st.Event.Is(), wording.Quote(st.Model.Table.Name), what),
		fmt.Sprintf("move the step on %s before this one", wording.Quote(first.Name)))
}

// deletedWith are t and the tables whose rows a delete in t deletes by cascades.
func deletedWith(ts *draft.Tables, t *model.Table) []*model.Table {
	gone := []*model.Table{t}
	for i := 0; i < len(gone); i++ {
		for _, child := range ts.All {
			cascade := slices.ContainsFunc(child.Model.ForeignKeys, func(fk model.ForeignKey) bool {
				return fk.References == gone[i] && fk.OnDelete == "cascade"
			})
			if cascade && !slices.Contains(gone, child.Model) {
				gone = append(gone, child.Model)
			}
		}
	}
	return gone
}
