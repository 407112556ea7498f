package pgtable

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Want is what a spec says of a table.
type Want struct {
	SQL     string // what statements call the table
	Columns []WantColumn
	Unique  [][]string // the primary key, then the further unique keys, by names in the database
	Rights  []string   // that the steps need; with INSERT they make rows
}

// WantColumn is what a spec says of a column.
type WantColumn struct {
	Name     string // in the database
	Type     string
	Nullable bool
	Filled   bool // the database alone fills it
	Default  bool // a row that does not name it gets a value
}

// Difference is what a spec expects of a table and the database does not have. The spec may expect
// less than there is, never more.
type Difference struct {
	Column string   // in the database; "" if it is about a key or the table
	Type   bool     // it is about the type of Column
	Key    []string // the unique key that it is about
	Text   string   // "column total of orders is integer, not bigint"
	Advice string
}

// Compare reads a table and says how it differs from what a spec says of it.
func Compare(ctx context.Context, db Querier, want *Want) ([]Difference, error) {
	have, err := Read(ctx, db, want.SQL)
	if err != nil {
		return nil, err
	}
	if have == nil {
		return missing(ctx, db, want)
	}
	c := comparison{want: want, have: have}
	c.columns()
	if !have.View { // of which the catalog says neither
		c.unknownColumns()
		c.keys()
	}
	c.rights()
	return c.found, nil
}

// missing is the difference of a table that is not there.
func missing(ctx context.Context, db Querier, want *Want) ([]Difference, error) {
	schemas, err := elsewhere(ctx, db, want.SQL)
	advice := "apply the migrations, or say with schema: and name: where it is"
	if len(schemas) > 0 {
		advice = "there is one in schema " + strings.Join(schemas, ", and in ") + ": say so with schema:"
	}
	return []Difference{{Text: "there is no table " + want.SQL + " in the database", Advice: advice}}, err
}

type comparison struct {
	want  *Want
	have  *Table
	found []Difference
}

func (c *comparison) add(d Difference, text string, args ...any) {
	d.Text = fmt.Sprintf(text, args...)
	c.found = append(c.found, d)
}

func (c *comparison) columns() {
	for _, w := range c.want.Columns {
		h, at := c.have.Column(w.Name), Difference{Column: w.Name}
		if h == nil {
			at.Advice = "it has " + names(c.have.Columns)
			c.add(at, "%s has no column %q", c.want.SQL, w.Name)
			continue
		}
		of := fmt.Sprintf("column %q of %s", w.Name, c.want.SQL)
		if !holds(h.Type, w.Type) {
			c.add(Difference{Column: w.Name, Type: true, Advice: "the column must take each value of " + w.Type}, "%s is %s in the database, and %s in the spec", of, h.Type, w.Type)
			continue
		}
		c.filling(w, h, of)
	}
}

// filling compares who gives a column its value, and whether it may have none.
func (c *comparison) filling(w WantColumn, h *Column, of string) {
	at := Difference{Column: w.Name, Type: true}
	switch {
	case h.Nullable && !w.Nullable && !c.have.View:
		at.Advice = "write nullable " + w.Type + ", or make it NOT NULL"
		c.add(at, "%s may be NULL in the database, and not in the spec", of)
	case h.Always != "" && !w.Filled:
		at.Advice = "write filled_by: database"
		c.add(at, "%s is filled by the database (%s), and the spec says that steps may write it", of, h.Always)
	case w.Filled && !h.fills() && !c.have.Triggers && c.makes():
		at.Advice = "let steps fill it, or give it a default"
		c.add(at, "%s has no default, and the spec says that the database fills it", of)
	case w.Default && !h.fills() && !c.have.Triggers && c.makes():
		at.Advice = "give it the default of the spec"
		c.add(at, "%s has no default in the database", of)
	}
}

// unknownColumns are those that make every insert fail.
func (c *comparison) unknownColumns() {
	if !c.makes() || c.have.Triggers {
		return
	}
	for i := range c.have.Columns {
		h := &c.have.Columns[i]
		if !h.fills() && !slices.ContainsFunc(c.want.Columns, func(w WantColumn) bool { return w.Name == h.Name }) {
			c.add(Difference{Advice: "add it to the spec, or give it a default"},
				"column %q of %s is not in the spec, and a row cannot be without it: NOT NULL, no default", h.Name, c.want.SQL)
		}
	}
}

func (c *comparison) makes() bool { return slices.Contains(c.want.Rights, "INSERT") }

func (c *comparison) keys() {
	for i, columns := range c.want.Unique {
		if slices.ContainsFunc(columns, func(name string) bool { return c.have.Column(name) == nil }) {
			continue // which is told
		}
		found, late := false, false
		for _, k := range c.have.Keys {
			if same(k.Columns, columns) {
				found, late = found || !k.Deferrable, late || k.Deferrable
			}
		}
		what := "unique key"
		if i == 0 {
			what = "primary key"
		}
		at := Difference{Key: columns, Advice: "rows are found by it: make a unique index, or name another key"}
		switch {
		case found:
		case late:
			at.Advice = "make it NOT DEFERRABLE"
			c.add(at, "the %s [%s] of %s is deferrable: no upsert can find rows by it", what, strings.Join(columns, ", "), c.want.SQL)
		default:
			c.add(at, "%s has no unique key [%s], which the spec calls %s", c.want.SQL, strings.Join(columns, ", "), map[bool]string{true: "its primary key", false: "unique"}[i == 0])
		}
	}
}

func (c *comparison) rights() {
	lacks := slices.DeleteFunc(slices.Clone(c.want.Rights), func(r string) bool { return slices.Contains(c.have.Rights, r) })
	if len(lacks) > 0 {
		list := strings.Join(lacks, ", ")
		c.add(Difference{Advice: "GRANT " + list + " ON " + c.want.SQL + " TO the service's role"}, "this role may not %s %s", list, c.want.SQL)
	}
}

// same reports whether two keys hold the same columns, in any order.
func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func names(columns []Column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}
