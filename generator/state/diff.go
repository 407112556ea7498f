package state

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// Additions are the changes of the tables that a migration is written for.
type Additions struct {
	Tables  []*model.Table // new tables, in spec order
	Columns []NewColumns   // per table, in spec order
}

// Empty reports whether there is nothing to write a migration for.
func (a Additions) Empty() bool { return len(a.Tables) == 0 && len(a.Columns) == 0 }

// Without returns the additions but for those that by accepts; subject is as that of a
// Refusal.
func (a Additions) Without(by func(subject string) bool) Additions {
	var rest Additions
	for _, t := range a.Tables {
		if !by(t.Name) {
			rest.Tables = append(rest.Tables, t)
		}
	}
	for _, n := range a.Columns {
		n.Columns = slices.DeleteFunc(slices.Clone(n.Columns), func(c *model.Column) bool { return by(n.Table.Name + "." + c.Name) })
		if len(n.Columns) > 0 {
			rest.Columns = append(rest.Columns, n)
		}
	}
	return rest
}

// NewColumns are columns that a table of an earlier migration gets: each nullable or with
// a default, so that rows that are there already need no value.
type NewColumns struct {
	Table   *model.Table
	Columns []*model.Column
}

// Refusal is a change of the tables that idemgen writes no migration for (E607).
type Refusal struct {
	Table, Column string // Column is "" if it is about the table
	Message       string
	Advice        string // what to do in a migration by hand
	Gone          bool   // the table or column is not in the spec any more, perhaps renamed
}

// Subject is what the refusal is about: "orders" or "orders.note".
func (r Refusal) Subject() string {
	if r.Column == "" {
		return r.Table
	}
	return r.Table + "." + r.Column
}

// Diff returns what has changed in the tables since old, which is nil at first.
func Diff(old *State, s *model.Service) (Additions, []Refusal) {
	var add Additions
	var refused []Refusal
	var known []Table
	if old != nil {
		known = old.Tables
	}
	for _, t := range s.Tables {
		if t.External {
			continue
		}
		i := slices.IndexFunc(known, func(o Table) bool { return o.Name == t.Name })
		if i < 0 {
			add.Tables = append(add.Tables, t)
			continue
		}
		added, r := diffTable(known[i], t)
		if len(added) > 0 {
			add.Columns = append(add.Columns, NewColumns{t, added})
		}
		refused = append(refused, r...)
	}
	for _, o := range known {
		if !slices.ContainsFunc(s.Tables, func(t *model.Table) bool { return t.Name == o.Name }) {
			refused = append(refused, Refusal{
				Table: o.Name, Message: fmt.Sprintf("table %q was removed; idemgen does not drop data", o.Name),
				Advice: "drop or rename it", Gone: true,
			})
		}
	}
	return add, refused
}

// diffTable compares one table column by column and key by key.
func diffTable(old Table, t *model.Table) (added []*model.Column, refused []Refusal) {
	now := table(t)
	refuse := func(column, advice, message string, args ...any) {
		refused = append(refused, Refusal{Table: t.Name, Column: column, Message: fmt.Sprintf(message, args...), Advice: advice})
	}
	for i, c := range now.Columns {
		j := slices.IndexFunc(old.Columns, func(o Entry) bool { return o.Name == c.Name })
		switch column := t.Columns[i]; {
		case j < 0 && (column.Nullable || column.Default != nil):
			added = append(added, column)
		case j < 0:
			refuse(c.Name, "make it nullable or give it a default, or add it",
				"new column %q of %q has no value for the rows that are there already", c.Name, t.Name)
		case old.Columns[j].Def != c.Def:
			refuse(c.Name, "change it",
				"column %q of %q changed from %s to %s; idemgen only adds columns", c.Name, t.Name, old.Columns[j].Def, c.Def)
		}
	}
	for _, o := range old.Columns {
		if !slices.ContainsFunc(now.Columns, func(c Entry) bool { return c.Name == o.Name }) {
			refuse(o.Name, "drop or rename it", "column %q was removed; idemgen does not drop data", o.Name)
			refused[len(refused)-1].Gone = true
		}
	}
	if old.Place != now.Place {
		refuse("", "move or rename it", "table %q is %s now, it was %s; idemgen does not move or rename what is there", t.Name, cmp.Or(now.Place, t.Name), cmp.Or(old.Place, t.Name))
	}
	if old.PrimaryKey != now.PrimaryKey {
		refuse("", "change it", "the primary key of %q changed from [%s] to [%s]", t.Name, old.PrimaryKey, now.PrimaryKey)
	}
	if old.Unlogged != now.Unlogged {
		refuse("", "change it", "table %q is unlogged now, or not any more; idemgen does not change it", t.Name)
	}
	for _, part := range []struct {
		what     string
		old, now []string
	}{
		{"unique key", old.Unique, now.Unique},
		{"index", old.Indexes, now.Indexes},
		{"foreign key", old.ForeignKeys, now.ForeignKeys},
	} {
		for _, def := range missing(part.now, part.old) {
			refuse("", "add it", "%s [%s] of %q is new; idemgen adds it to a new table only", part.what, def, t.Name)
		}
		for _, def := range missing(part.old, part.now) {
			refuse("", "drop it", "%s [%s] of %q was removed; idemgen does not drop it", part.what, def, t.Name)
		}
	}
	return added, refused
}

// missing returns the elements of a that b lacks.
func missing(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
