package pgtable

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Want is what a spec says of a table. Columns have their names in the database.
type Want struct {
	SQL     string // what statements call the table
	Columns []WantColumn
	Unique  [][]string // the primary key, then the further unique keys
	Rights  []string   // that the steps need; with INSERT they make rows
	Handled bool       // handlers may read and write the table
	Upserts bool       // steps make a row or find it, by ON CONFLICT
}

// WantColumn is what a spec says of a column.
type WantColumn struct {
	Name     string // in the database
	Type     string
	Nullable bool
	Filled   bool     // the database alone fills it
	Default  bool     // a row that does not name it gets a value
	Left     string   // the event of a step that makes rows without it; "" if there is none
	Null     string   // the event of a step that may write NULL to it; "" if there is none
	Texts    []string // of a type of the team's: those that steps write
}

// Difference is what a spec expects of a table and the database does not have. The spec may expect
// less than there is, never more.
type Difference struct {
	Text   string // "column total of orders is integer, not bigint"
	Advice string
}

// Err is an error that says the difference, and what to do.
func (d *Difference) Err() error { return fmt.Errorf("%s: %s", d.Text, d.Advice) }

// Compare reads a table and says how it differs from what a spec says of it.
func Compare(ctx context.Context, db Querier, want *Want) ([]Difference, error) {
	closed, err := Closed(ctx, db, want.SQL)
	if err != nil || closed != nil {
		return closed, err
	}
	have, err := Read(ctx, db, want.SQL)
	if err != nil {
		return nil, err
	}
	if have == nil {
		return missing(ctx, db, want)
	}
	c := comparison{want: want, have: have}
	c.storage()
	c.columns()
	c.places()
	if !have.View { // of which the catalog says neither; a view may rest on its rules
		c.unknownColumns()
		c.keys()
		c.rules()
	}
	c.lacksRights()
	return c.found, nil
}

// rules finds those that replace statements of the service: the database refuses the statements,
// or drops their rows silently.
func (c *comparison) rules() {
	for _, r := range c.have.Rules {
		if slices.Contains(c.want.Rights, r.On) {
			at := Difference{Advice: fmt.Sprintf("DROP RULE %s ON %s, and replace it by a trigger", quoted(r.Name), c.want.SQL)}
			c.add(at, "%s has the rule %q, which replaces %s statements", c.want.SQL, r.Name, r.On)
		}
	}
}

// places finds tables that take no row, and views whose triggers take the place of ON CONFLICT.
func (c *comparison) places() {
	if c.have.Partitioned && c.makes() {
		c.add(Difference{Advice: "create its partitions, or a DEFAULT partition"}, "%s is partitioned but has no partition, so it accepts no row", c.want.SQL)
	}
	if len(c.have.Instead) > 0 && c.want.Upserts {
		at := Difference{Advice: "name the underlying table, or drop the trigger if Postgres can insert through the view itself"}
		c.add(at, "view %s has the INSTEAD OF trigger %s, so ON CONFLICT, by which steps find rows, finds none through it", c.want.SQL, quoted(c.have.Instead[0]))
	}
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
		h := c.have.Column(w.Name)
		if h == nil {
			at := Difference{Advice: "apply the migration that creates it, or remove it from the spec; the table has " + names(c.have.Columns)}
			c.add(at, "%s has no column %q", c.want.SQL, w.Name)
			continue
		}
		of := fmt.Sprintf("column %q of %s", w.Name, c.want.SQL)
		if !holds(h.Type, w.Type) {
			c.add(Difference{Advice: "the column must take each value of " + w.Type}, "%s is %s in the database, but %s in the spec", of, h.Type, w.Type)
			continue
		}
		c.texts(w, h, of)
		c.filling(w, h, of)
	}
}

// texts compares what an enum of the database can hold.
func (c *comparison) texts(w WantColumn, h *Column, of string) {
	for _, text := range w.Texts {
		if len(h.Labels) > 0 && !slices.Contains(h.Labels, text) {
			at := Difference{Advice: fmt.Sprintf("ALTER TYPE %s ADD VALUE %s, or let no step write it", quoted(h.Base.Schema, h.Base.Name), literal(text))}
			c.add(at, "%s cannot hold %q, which steps write: the enum has %s", of, text, strings.Join(h.Labels, ", "))
		}
	}
}

// filling compares who gives a column its value, and whether it may have none.
func (c *comparison) filling(w WantColumn, h *Column, of string) {
	var at Difference
	switch {
	case h.Always != "" && !w.Filled:
		at.Advice = "write filled_by: database"
		if h.Nullable && !w.Nullable {
			at.Advice += " and nullable " + w.Type
		}
		c.add(at, "%s is filled by the database (%s), but the spec lets steps write it", of, h.Always)
	case h.Nullable && !w.Nullable && !c.have.View:
		at.Advice = "write nullable " + w.Type + ", or make it NOT NULL"
		c.add(at, "%s may be NULL in the database, but not in the spec", of)
	case !h.Nullable && w.Null != "" && !c.have.filledByTrigger():
		at.Advice = fmt.Sprintf("let the event have a value in every record (a default of its field will do), or ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL", c.want.SQL, quoted(w.Name))
		c.add(at, "%s is NOT NULL in the database, but event %s may write NULL to it", of, w.Null)
	case !h.fills() && w.Left != "" && !c.have.filledByTrigger():
		at.Advice = fmt.Sprintf("let the step give it a value, or ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL", c.want.SQL, quoted(w.Name))
		c.add(at, "%s is NOT NULL in the database and has no default, but event %s inserts rows without it", of, w.Left)
	case w.Filled && !h.fills() && !c.have.filledByTrigger() && c.makes():
		at.Advice = "let steps fill it, or give it a default"
		c.add(at, "%s has no default, but the spec says that the database fills it", of)
	case w.Default && !h.fills() && !c.have.filledByTrigger() && c.makes():
		at.Advice = "give it the default of the spec"
		c.add(at, "%s has no default in the database", of)
	}
}

// unknownColumns are those that make every insert fail.
func (c *comparison) unknownColumns() {
	if !c.makes() || c.have.filledByTrigger() {
		return
	}
	for i := range c.have.Columns {
		h := &c.have.Columns[i]
		if !h.fills() && !slices.ContainsFunc(c.want.Columns, func(w WantColumn) bool { return w.Name == h.Name }) {
			c.add(Difference{Advice: "add it to the spec, or give it a default"},
				"column %q of %s is not in the spec, but each row needs it: NOT NULL, no default", h.Name, c.want.SQL)
		}
	}
}

func (c *comparison) makes() bool { return slices.Contains(c.want.Rights, "INSERT") }

func names(columns []Column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}
