package pgtable

import "slices"

// Table is a table as the database has it.
type Table struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
	// Keys are its unique keys, the primary key first if it has one: no partial ones, and none of
	// expressions.
	Keys        []Key        `json:"keys"`
	ForeignKeys []ForeignKey `json:"foreign_keys"`
	// Others are the definitions of indexes that compute: of expressions, or of some rows only.
	Others  []string `json:"others"`
	Indexes []Key    `json:"indexes"` // of columns and whole, those of unique keys among them
	Rights  []string `json:"rights"`  // SELECT, INSERT, UPDATE, DELETE: those that this role has
	// Before are the triggers that run before a row is inserted or changed, and may fill columns.
	Before   []Trigger `json:"before"`
	Unlogged bool      `json:"unlogged"`
	Rules    []Rule    `json:"rules"` // DO INSTEAD
	View     bool      `json:"view"`
	// Parts are of the table itself and of its partitions those that do not survive a crash, or
	// are elsewhere.
	Parts []Part `json:"parts"`
	Citus bool   `json:"citus"` // the database has that extension
	Role  string `json:"role"` // that asks
}

// Trigger is one that runs before a row is written.
type Trigger struct {
	Name   string `json:"name"`
	Insert bool   `json:"insert"`
	Update bool   `json:"update"`
}

// Rule is one that replaces a statement by others, or by nothing.
type Rule struct {
	Name string `json:"name"`
	On   string `json:"on"` // INSERT, UPDATE or DELETE
}

// Part is a table, or a partition of it.
type Part struct {
	SQL  string `json:"sql"`  // its name with its schema
	Kind string `json:"kind"` // "unlogged", "temporary", "foreign" or [Citus]
}

// Citus is the kind of a table that this extension lists.
const Citus = "citus"

// Column is a column of a table.
type Column struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`   // in words of the spec where it has one, else as Postgres writes it
	Known    bool     `json:"-"`      // the spec has a word for it
	Domain   string   `json:"domain"` // the domain over Type; "" if it is none
	Nullable bool     `json:"nullable"`
	Default  string   `json:"default"` // an expression of SQL; "" for none
	Always   string   `json:"always"`  // "identity" or "generated": the database alone fills it; else ""
	Labels   []string `json:"labels"`  // of an enum

	Base struct {
		Text   string `json:"text"`
		Schema string `json:"schema"`
		Name   string `json:"name"`
	} `json:"base"`
}

// fills reports whether a row gets a value there that does not name the column.
func (c *Column) fills() bool { return c.Default != "" || c.Always != "" || c.Nullable }

// Key is a unique key.
type Key struct {
	Columns []string `json:"columns"`
	Primary bool     `json:"primary"`
	// Deferrable says that it is checked at the end of a statement or transaction: no upsert can
	// find rows by it.
	Deferrable bool `json:"deferrable"`
}

// ForeignKey refers to a table.
type ForeignKey struct {
	Columns    []string `json:"columns"`
	Schema     string   `json:"schema"` // of the other table
	Table      string   `json:"table"`
	References []string `json:"references"` // columns of it
	OnDelete   string   `json:"on_delete"`  // restrict, cascade, set_null; or another word of Postgres
}

// filledByTrigger reports whether something runs before a row is inserted, and may fill columns.
func (t *Table) filledByTrigger() bool {
	return slices.ContainsFunc(t.Before, func(t Trigger) bool { return t.Insert })
}

// Column returns the column of a name, or nil.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}
