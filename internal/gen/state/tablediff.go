package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// TableChange is one difference between the tables as the last migration left them and those
// of the spec.
type TableChange struct {
	Kind    ChangeKind
	Table   *model.Table      // as the spec has it; nil if it is gone
	Column  *model.Column     // NewColumn and ChangedColumn
	Key     []*model.Column   // NewUnique
	Foreign *model.ForeignKey // NewForeignKey
	Alter   Alter             // ChangedColumn
	Text    string            // what changed, as a clause
	Advice  string            // Refused: what to do in a migration by hand, as an order
	Gone    bool              // Refused: the table or column is not in the spec any more, perhaps renamed
	Stops   bool              // Refused: once it is made, processes of older versions halt
	At      Place             // where the change is
}

// Place names a table, or a column of it.
type Place struct{ Table, Column string }

// ChangeKind is the kind of a TableChange.
type ChangeKind int

// What may change of the tables.
const (
	Refused ChangeKind = iota
	NewTable
	NewColumn
	ChangedColumn // of a table that is there, as the next ones
	NewUnique
	NewForeignKey
)

// Written reports whether idemgen writes a migration for the change; else a person does (E607).
func (c TableChange) Written() bool {
	return c.Kind == NewTable || c.Kind == NewColumn
}

// Subject is what the change is about, as a migration by hand names it: "orders" or
// "orders.note".
func (c TableChange) Subject() string {
	if c.At.Column == "" {
		return c.At.Table
	}
	return c.At.Table + "." + c.At.Column
}

// TableChanges returns what has changed in the tables since old, which is nil at first; tables
// in spec order, then those that are gone.
func TableChanges(old *State, s *model.Service) []TableChange {
	d := tableDiff{}
	if old != nil {
		d.known = respelled(old.Tables, s)
	}
	for _, t := range s.Tables {
		if t.External {
			continue
		}
		if i := slices.IndexFunc(d.known, func(o Table) bool { return o.Name == t.Name }); i >= 0 {
			d.table(d.known[i], t)
		} else {
			d.add(TableChange{Kind: NewTable, Table: t, At: Place{Table: t.Name}, Text: fmt.Sprintf("table %q is new", t.Name)})
		}
	}
	for _, o := range d.known {
		if !slices.ContainsFunc(s.Tables, func(t *model.Table) bool { return t.Name == o.Name }) {
			d.stop(Place{Table: o.Name}, "drop or rename it", "table %q was removed; idemgen does not drop data", o.Name)
			d.changes[len(d.changes)-1].Gone = true
		}
	}
	return d.changes
}

// tableDiff collects the changes. Known are the tables of the state.
type tableDiff struct {
	known   []Table
	changes []TableChange
}

func (d *tableDiff) add(c TableChange) { d.changes = append(d.changes, c) }

func (d *tableDiff) refuse(at Place, advice, message string, args ...any) {
	d.add(TableChange{Kind: Refused, At: at, Text: fmt.Sprintf(message, args...), Advice: advice})
}

// stop is refuse for a change after which statements of older versions fail.
func (d *tableDiff) stop(at Place, advice, message string, args ...any) {
	d.refuse(at, advice, message, args...)
	d.changes[len(d.changes)-1].Stops = true
}

// table compares one table column by column and key by key.
func (d *tableDiff) table(old Table, t *model.Table) {
	now := table(t)
	for i, c := range now.Columns {
		if j := slices.IndexFunc(old.Columns, func(o Entry) bool { return o.Name == c.Name }); j >= 0 {
			d.column(t, t.Columns[i], old.Columns[j].Def, c.Def)
		} else {
			d.newColumn(t, t.Columns[i])
		}
	}
	for _, o := range old.Columns {
		if !slices.ContainsFunc(now.Columns, func(c Entry) bool { return c.Name == o.Name }) {
			d.stop(Place{t.Name, o.Name}, "drop or rename it", "column %q was removed; idemgen does not drop data", o.Name)
			d.changes[len(d.changes)-1].Gone = true
		}
	}
	if old.Place != now.Place {
		d.stop(Place{Table: t.Name}, "move or rename it", "table %q is %s now, it was %s; idemgen does not move or rename it",
			t.Name, cmp.Or(now.Place, t.Name), cmp.Or(old.Place, t.Name))
	}
	if old.PrimaryKey != now.PrimaryKey {
		d.stop(Place{Table: t.Name}, "change it", "the primary key of %q changed from [%s] to [%s]", t.Name, old.PrimaryKey, now.PrimaryKey)
	}
	d.keys(old, now, t)
}

// keys compares the unique keys and foreign keys of a table.
func (d *tableDiff) keys(old, now Table, t *model.Table) {
	for i, def := range now.Unique {
		if !slices.Contains(old.Unique, def) {
			d.add(TableChange{Kind: NewUnique, Table: t, Key: t.Unique[i], At: Place{Table: t.Name}, Text: fmt.Sprintf("unique key [%s] of %q is new", def, t.Name)})
		}
	}
	for i, def := range now.ForeignKeys {
		was := slices.IndexFunc(old.ForeignKeys, func(o string) bool { return foreignColumns(o) == foreignColumns(def) })
		switch {
		case slices.Contains(old.ForeignKeys, def):
		case was >= 0 && !slices.Contains(now.ForeignKeys, old.ForeignKeys[was]):
			// The new one would get the name of the old one.
			d.refuse(Place{Table: t.Name}, "drop the old one and add the new one", "foreign key [%s] of %q was [%s]; idemgen does not drop it", def, t.Name, old.ForeignKeys[was])
		default:
			d.add(TableChange{Kind: NewForeignKey, Table: t, Foreign: &t.ForeignKeys[i], At: Place{Table: t.Name}, Text: fmt.Sprintf("foreign key [%s] of %q is new", def, t.Name)})
		}
	}
	for _, part := range []struct {
		what     string
		old, now []string
		same     func(a, b string) bool
	}{
		{"unique key", old.Unique, now.Unique, func(a, b string) bool { return a == b }},
		{"foreign key", old.ForeignKeys, now.ForeignKeys, func(a, b string) bool { return foreignColumns(a) == foreignColumns(b) }},
	} {
		for _, def := range part.old {
			if !slices.ContainsFunc(part.now, func(n string) bool { return part.same(def, n) }) {
				d.refuse(Place{Table: t.Name}, "drop it", "%s [%s] of %q was removed; idemgen does not drop it", part.what, def, t.Name)
			}
		}
	}
}

// foreignColumns are the columns of a foreign key's definition.
func foreignColumns(def string) string {
	columns, _, _ := strings.Cut(def, " references ")
	return columns
}
