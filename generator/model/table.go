package model

import "slices"

// ColKind is the kind of a column's type.
type ColKind int

// The column types of docs/spec.md, "Tables".
const (
	ColText ColKind = iota + 1
	ColVarchar
	ColChar
	ColCitext
	ColBoolean
	ColSmallint
	ColInteger
	ColBigint
	ColNumeric
	ColDouble
	ColUUID
	ColTimestamptz
	ColTimestamp
	ColDate
	ColBytea
	ColJSONB
	ColJSON
	ColTextArray
	ColIntegerArray
	ColBigintArray
	ColUUIDArray
	ColNamed // Name: schema.type
)

// ColType is the type of a column.
type ColType struct {
	Kind      ColKind
	Len       int    // varchar(n), char(n)
	Precision int    // numeric(p,s); 0 = unconstrained
	Scale     int    // numeric(p,s)
	Name      string // ColNamed: "schema.type"
}

// Table is one table.
type Table struct {
	Name        string
	RenamedFrom string // an earlier name; "" if there is none
	GoName      string // "Orders"
	Doc         Doc
	Columns     []*Column // in spec order
	PrimaryKey  []*Column
	Unique      [][]*Column
	Indexes     [][]*Column
	ForeignKeys []ForeignKey
	Unlogged    bool // not written to the log of Postgres: empty after a crash
}

// Column is one column.
type Column struct {
	Name        string
	RenamedFrom string // an earlier name; "" if there is none
	Doc         Doc
	Type        ColType
	Nullable    bool
	Default     *Default
	Identity    bool
}

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
