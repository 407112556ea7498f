package oracle

import (
	"encoding/base64"

	"github.com/idemgen/idemgen/generator/model"
)

// Cell is a column's value as a constant of the spec; of an array column as JSON.
type Cell struct {
	Column *model.Column
	Text   string
	Null   bool
}

// Cells returns the rows of a table in primary key order, without the columns that the database
// fills; nil if there are none.
func (in *Interpreter) Cells(table string) (rows [][]Cell) {
	t := in.tables.named(table)
	if t == nil {
		return nil
	}
	shown := in.shown(t)
	for _, r := range t.sorted() {
		var cells []Cell
		for i, c := range t.def.Columns {
			if !shown[c] {
				continue
			}
			out := Cell{Column: c, Null: r.cells[i] == nil}
			switch v := r.cells[i].(type) {
			case string:
				out.Text = v
			case instant:
				out.Text = v.time().Format("2006-01-02T15:04:05.999999Z")
			case wall:
				out.Text = v.time().Format("2006-01-02T15:04:05.999999")
			case []byte:
				out.Text = base64.StdEncoding.EncodeToString(v)
			default:
				out.Text = format(c.Type, v)
			}
			cells = append(cells, out)
		}
		rows = append(rows, cells)
	}
	return rows
}
