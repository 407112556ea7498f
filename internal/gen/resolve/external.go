package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveInDatabase reads where a table is, and whether this consumer makes it.
func resolveInDatabase(report *syntax.Diagnostics, t *draft.Table) {
	in := t.Spec.InDatabase
	if in.Schema != nil {
		t.Model.Schema = in.Schema.Value
	}
	if in.Stored != nil && in.Stored.Value != t.Spec.Name.Value {
		t.Model.Stored = in.Stored.Value
	}
	t.Model.External = in.External != nil && in.External.Value
	if !t.Model.External {
		return
	}
	const fills = "for a column the database fills, write filled_by: database"
	for _, c := range t.Spec.Columns {
		if c.Default != nil {
			meansNothing(report, t, c.Default.Key, "default", fills)
		}
		if c.Identity != nil {
			meansNothing(report, t, c.Identity.Key, "identity", fills)
		}
	}
}

// meansNothing reports a key that says how a table is made that idemgen does not make.
func meansNothing(report *syntax.Diagnostics, t *draft.Table, at syntax.Pos, key, hint string) {
	report.Add(at, "E606", fmt.Sprintf("table %s is external: idemgen does not create or change it, so %s has no effect",
		wording.Quote(t.Spec.Name.Value), wording.Quote(key)), hint)
}

// resolveFilled reads what a column is called in the database, and whether that fills it.
func resolveFilled(report *syntax.Diagnostics, c *draft.Column) {
	if stored := c.Spec.Stored; stored != nil && stored.Value != c.Spec.Name.Value {
		c.Model.Stored = stored.Value
	}
	if c.Spec.FilledBy == nil {
		return
	}
	c.Model.Filled = true
	if !c.Table.Model.External {
		report.Add(c.Spec.FilledBy.Key, "E606", fmt.Sprintf("table %s is not external: its migrations determine what fills %s", wording.Quote(c.Table.Spec.Name.Value), wording.Quote(c.Spec.Name.Value)),
			"write default or identity: true; if the table already exists, write external: true on it")
	}
}

// checkParentExists refuses a foreign key from a table that is there before all migrations to
// one that they make.
func checkParentExists(report *syntax.Diagnostics, t, parent *draft.Table, at syntax.Pos) {
	if t.Model.External && !parent.Model.External {
		report.Add(at, "E608", fmt.Sprintf("external table %s cannot refer to %s, which idemgen creates", wording.Quote(t.Spec.Name.Value), wording.Quote(parent.Spec.Name.Value)),
			"leave the foreign key out of the spec: if the database has it, each record that writes the table needs a wave of its own (docs/production.md)")
	}
}
