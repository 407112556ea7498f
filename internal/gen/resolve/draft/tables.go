package draft

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Tables are the entries of tables.
type Tables struct {
	Declared[*Table]
	All []*Table // in spec order
	// Unknown says that the map of tables was refused: a name that is missing proves nothing.
	Unknown bool
}

// Table is an entry of tables. In a broken one columns or keys may be missing.
type Table struct {
	Spec        *syntax.Table
	Model       *model.Table
	Columns     []*Column
	Broken      bool
	ForeignKeys []syntax.Pos // where those of the model stand
}

// complete reports whether no part of the table was refused.
func (t *Table) complete() bool {
	return !t.Broken && !slices.ContainsFunc(t.Columns, func(c *Column) bool { return c.Broken })
}

// Column returns the column of a name, or nil.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Spec.Name.Value == name {
			return c
		}
	}
	return nil
}

// Of returns the working copy of a column of the model.
func (t *Table) Of(c *model.Column) *Column {
	return t.Columns[slices.IndexFunc(t.Columns, func(x *Column) bool { return x.Model == c })]
}

// ColumnNames are the names of the columns, also of refused ones.
func (t *Table) ColumnNames() []string {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Spec.Name.Value)
	}
	return names
}

// Keys are the primary key and the unique keys.
func (t *Table) Keys() [][]*model.Column {
	return append([][]*model.Column{t.Model.PrimaryKey}, t.Model.Unique...)
}

// Column is a column of a table. Of a broken one only the name is known.
type Column struct {
	Spec   *syntax.Column
	Model  *model.Column
	Table  *Table
	Broken bool
}

// Is names the column in a message: `column "total" of "orders"`.
func (c *Column) Is() string {
	return fmt.Sprintf("column %s of %s", wording.Quote(c.Spec.Name.Value), wording.Quote(c.Table.Spec.Name.Value))
}
