package wire

// Table is what generated code declares about a table of the spec: what the runtime
// compares with the database's catalog at start (docs/operations.md).
type Table struct {
	Name       string
	SQL        string     // how statements name it, if Name does not do: quoted, with its schema
	Unique     [][]string // the primary key, then the further unique keys
	Columns    []Column
	Rights     []string // that the steps need: SELECT, INSERT, UPDATE, DELETE
	References []Reference
}

// Column is what the spec says of a column.
type Column struct {
	Name     string // in the database
	Type     string // as the spec writes it
	Nullable bool
	Filled   bool     // by the database alone
	Default  bool     // the database has a value for a row that does not name it
	Left     string   // the event of a step that makes rows without it; "" if there is none
	Null     string   // the event of a step that may write NULL to it; "" if there is none
	Texts    []string // of a type of the team's: those that steps write
}

// Reference is a foreign key of a table to the primary key of another.
type Reference struct {
	Columns  []string
	Table    string
	OnDelete string // "cascade" or "set_null"; "" = restrict
}

// Apart says how far the writes of a table are kept apart, beyond what generated code knows
// of it: batch boundaries must carry no meaning. Each degree includes those before it.
type Apart uint8

// How far the writes of a table are kept apart.
const (
	ApartRows    Apart = iota + 1 // equal rows of a batch are written one after the other, and not collapsed
	ApartTable                    // each write counts as one of the whole table: keys cannot be compared here
	ApartRecords                  // each record that could write it is a wave of its own
)

// KeepApart says how far the writes of tables are kept apart from now on. records is true
// if one that the plan writes needs [ApartRecords]. The map is read only.
func (b *Batch) KeepApart(tables map[string]Apart, records bool) {
	b.wave.apart, b.wave.records = tables, records
}

// String names the degree for the log.
func (a Apart) String() string {
	return [...]string{"no", "rows", "table", "records"}[min(a, ApartRecords)]
}
