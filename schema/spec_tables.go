package schema

// Table is an entry of tables.
type Table struct {
	Name        Text // Pos is the key
	Doc         Doc
	PrimaryKey  *Texts // column names
	Columns     []*Column
	Unique      []Texts
	Indexes     []Texts
	ForeignKeys []*ForeignKey
	Unlogged    *Bool
	Pos         Pos // the map
	Broken      bool
}

// Column is one column of a table. Its type is not looked up: resolve reads the type
// word and reports E610.
type Column struct {
	Name     Text // Pos is the key
	Doc      Doc
	Type     ColumnType
	Default  *Text // a constant (its text), or now() or gen_random_uuid()
	Identity *Bool
	Pos      Pos // the value: the type text, or the map
	Broken   bool
}

// ColumnType is the text of a column type.
type ColumnType struct {
	Text     string // as written: "nullable numeric(12,2)"
	Nullable bool
	Word     string // without "nullable": "numeric(12,2)"
	Pos      Pos    // of Text
}

// ForeignKey is one entry of foreign_keys.
type ForeignKey struct {
	Columns    *Texts
	References *Text // table
	OnDelete   *Text // restrict, cascade or set_null
	Pos        Pos   // the map
	Broken     bool
}
