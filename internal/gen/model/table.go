package model

import (
	"cmp"
	"fmt"
	"slices"
)

// ColKind is the kind of a column's type.
type ColKind int

// The column types of docs/tables.md, "Column types".
const (
	ColText ColKind = iota + 1
	ColVarchar
	ColChar
	ColBoolean
	ColSmallint
	ColInteger
	ColBigint
	ColNumeric
	ColReal
	ColDouble
	ColUUID
	ColTimestamptz
	ColTimestamp
	ColDate
	ColBytea
	ColJSONB
	ColJSON
	ColNamed  // Name: schema.type
	ColParsed // Name: one of Parsed
	ColArray  // Elem, and of ColParsed Name
)

// ColType is the type of a column.
type ColType struct {
	Kind      ColKind
	Len       int    // varchar(n), char(n)
	Precision int    // numeric(p,s); 0 = unconstrained
	Scale     int    // numeric(p,s)
	Name      string // ColNamed: "schema.type"; ColParsed: "inet"
	Elem      ColKind
}

// ColumnWords are the types that one word says.
var ColumnWords = map[ColKind]string{
	ColText: "text", ColBoolean: "boolean", ColSmallint: "smallint", ColInteger: "integer", ColBigint: "bigint",
	ColNumeric: "numeric", ColReal: "real", ColDouble: "double precision", ColUUID: "uuid",
	ColTimestamptz: "timestamptz", ColTimestamp: "timestamp", ColDate: "date",
	ColBytea: "bytea", ColJSONB: "jsonb", ColJSON: "json",
}

// Element is the type of an array's elements.
func (t ColType) Element() ColType { return ColType{Kind: t.Elem, Name: t.Name} }

// String is the type as the spec writes it.
func (t ColType) String() string {
	switch {
	case t.Kind == ColVarchar:
		return fmt.Sprintf("varchar(%d)", t.Len)
	case t.Kind == ColChar:
		return fmt.Sprintf("char(%d)", t.Len)
	case t.Kind == ColNumeric && t.Precision > 0:
		return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale)
	case t.Kind == ColNamed:
		return "named(" + t.Name + ")"
	case t.Kind == ColParsed:
		return t.Name
	case t.Kind == ColArray:
		return t.Element().String() + " array"
	}
	return ColumnWords[t.Kind]
}

// FitsKey reports whether columns of the type may be part of a key: its values are equal if what
// events send is.
func (t ColType) FitsKey() bool {
	switch t.Kind {
	case ColJSON, ColJSONB, ColReal, ColDouble, ColArray, ColParsed:
		return false
	}
	return true
}

// Table is one table.
type Table struct {
	Name        string // in the spec, in Go and in what tests print
	Schema      string // "" = the first one of search_path
	Stored      string // its name in the database, if that is another one
	External    bool   // exists already, or is made by another consumer: no migration speaks of it
	GoName      string // "Orders"
	Doc         Doc
	Columns     []*Column // in spec order
	PrimaryKey  []*Column
	Unique      [][]*Column
	ForeignKeys []ForeignKey
}

// Column is one column.
type Column struct {
	Name     string // in the spec, and in what tests print
	Stored   string // its name in the database, if that is another one
	Doc      Doc
	Type     ColType
	Nullable bool
	Default  *Default
	Identity bool
	Filled   bool // by the database, in a way that the spec does not say: no step writes it
}

// InDatabase is the table's name in the database, without its schema.
func (t *Table) InDatabase() string { return cmp.Or(t.Stored, t.Name) }

// Outbox reports whether the table is that of package runtime/outbox.
func (t *Table) Outbox() bool { return t.InDatabase() == "idem_outbox" }

// EventID is the column of the outbox for the events' ids, which a spec need not have.
func (t *Table) EventID() *Column {
	for _, c := range t.Columns {
		if c.InDatabase() == outboxID.Name {
			return c
		}
	}
	return outboxID
}

var outboxID = &Column{Name: "id", Type: ColType{Kind: ColUUID}}

// InDatabase is the column's name in the database.
func (c *Column) InDatabase() string { return cmp.Or(c.Stored, c.Name) }

// ByDatabase reports whether the database alone fills the column.
func (c *Column) ByDatabase() bool { return c.Identity || c.Filled }

// Default is a column's default: a constant, or a function.
type Default struct {
	Const *Constant
	Func  string // "now()" or "gen_random_uuid()"; "" if Const
}

// ForeignKey points at the primary key of another table.
type ForeignKey struct {
	Columns    []*Column
	References *Table
	OnDelete   string // "restrict" (default), "cascade" or "set_null"
}

// ColumnNames are the names of columns.
func ColumnNames(columns []*Column) []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// SameColumns reports whether two keys hold the same columns, in any order.
func SameColumns(a, b []*Column) bool {
	return len(a) == len(b) && ContainsColumns(a, b)
}

// ContainsColumns reports whether every column of part is in whole.
func ContainsColumns(whole, part []*Column) bool {
	for _, c := range part {
		if !slices.Contains(whole, c) {
			return false
		}
	}
	return true
}

// ParentsFirst sorts tables so that a foreign key names an earlier table or, in a cycle,
// a later one; ties keep their order.
func ParentsFirst(tables []*Table) []*Table {
	var sorted []*Table
	seen := map[*Table]bool{}
	var visit func(t *Table)
	visit = func(t *Table) {
		if seen[t] || !slices.Contains(tables, t) {
			return
		}
		seen[t] = true
		for _, fk := range t.ForeignKeys {
			visit(fk.References)
		}
		sorted = append(sorted, t)
	}
	for _, t := range tables {
		visit(t)
	}
	return sorted
}
