package wire

// Table is what generated code declares about a table of the spec. The runtime compares it with
// the database's catalog at start (docs/operations.md).
type Table struct {
	Name       string
	SQL        string     // how statements name it, if not by Name: quoted, with its schema
	Unique     [][]string // the primary key, then the further unique keys
	Columns    []Column
	Rights     []string // that the steps need: SELECT, INSERT, UPDATE, DELETE
	References []Reference
}

// Column is what the spec says about a column.
type Column struct {
	Name     string // in the database
	Type     string // as the spec writes it
	Nullable bool
	Filled   bool     // only by the database
	Default  bool     // the database has a default value
	Left     string   // an event with a step that creates rows without it; "" if there is none
	Null     string   // an event with a step that may write NULL to it; "" if there is none
	Texts    []string // of a column with a custom type: the texts that steps write
}

// Reference is a foreign key that refers to the primary key of another table.
type Reference struct {
	Columns  []string
	Table    string
	OnDelete string // "cascade" or "set_null"; "" = restrict
}

// Apart says how far the writes of a table are kept apart, beyond what generated code knows about
// them, because batch boundaries must not change the result. Each degree includes those before it.
type Apart uint8

// How far the writes of a table are kept apart.
const (
	ApartRows    Apart = iota + 1 // rows with equal keys are written one after another, and not collapsed
	ApartTable                    // each write counts as a write of the whole table, because keys cannot be compared here
	ApartRecords                  // each record that could write it is a wave of its own
)

// KeepApart sets how far the writes of tables are kept apart from now on. records is true if a
// table that the plan writes needs [ApartRecords]. The map is read-only.
func (b *Batch) KeepApart(tables map[string]Apart, records bool) {
	b.wave.apart, b.wave.records = tables, records
}

// String returns the name of the degree, for the log.
func (a Apart) String() string {
	return [...]string{"no", "rows", "table", "records"}[min(a, ApartRecords)]
}
