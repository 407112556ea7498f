package evolution

import (
	"cmp"
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/state"
)

// tables are the changes of the tables: what a migration of idemgen does, what a migration by hand
// does, and what is still to be done by hand.
func (c *comparison) tables() {
	changes := state.TableChanges(c.old.State, c.now.Service)
	stops := map[string]bool{} // files after which processes of the version before halt
	for _, t := range changes {
		if t.Stops {
			stops[c.now.ByHand[t.Subject()]] = true
		}
	}
	for _, t := range changes {
		line := fmt.Sprintf("%q", "-- idemgen:by-hand "+t.Subject())
		file, made := c.now.ByHand[t.Subject()]
		switch {
		case made && stops[file]:
			c.add(ByHand, t.Text, file+" makes the change, after which a process of the previous version halts", "stop all processes, apply it, then start this version")
		case made:
			c.add(ByHand, t.Text, file+" makes the change", rollOut(t))
		case t.Stops:
			c.add(ByHand, t.Text, "idemgen writes no migration for it (E607)",
				t.Advice+" in a migration of your own that has the line "+line+"; stop all processes before you apply it")
		case !t.Written():
			c.add(ByHand, t.Text, "idemgen writes no migration for it (E607)", cmp.Or(t.Advice, "make it")+" in a migration of your own that has the line "+line)
		case t.Kind == state.NewTable && isExternal(c.old, t.Table.Name):
			c.add(Migration, t.Text, "the previous version did not create it", "if the database has the table, write a migration of your own in its place that has the line "+line)
		default:
			c.add(Migration, t.Text, "older versions continue beside it", "")
		}
	}
}

// rollOut says when a migration by hand is applied that lets older versions continue.
func rollOut(t state.TableChange) string {
	const before = "apply it before this version starts"
	switch {
	case t.Kind == state.NewUnique, t.Kind == state.NewForeignKey:
		return before + ", when no row violates it; from then on, an event of the previous version that violates it becomes a dead letter"
	case t.Kind == state.Refused, t.Alter.Type:
		return before + "; what the previous version writes must fit it, or stop that version first"
	}
	return before
}
