package model

// Row is a row of constants. Set has ConstValue and NullValue only, in the table's column
// order; columns that it leaves out are filled by the database.
type Row struct {
	Table *Table
	Set   []Assign
}
