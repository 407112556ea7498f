package sqlcode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

type rows struct {
	Table   string
	Columns []string
	Rows    []string
}

// InsertRows returns the statements that insert rows, one for each run of rows that set the same
// columns of one table.
func InsertRows(all []model.Row) (string, error) {
	var parts []string
	for len(all) > 0 {
		data := rows{Table: tableIdent(all[0].Table)}
		for _, a := range all[0].Set {
			data.Columns = append(data.Columns, columnIdent(a.Column))
		}
		for first := all[0]; len(all) > 0 && alike(first, all[0]); all = all[1:] {
			line, err := rowLine(all[0])
			if err != nil {
				return "", err
			}
			data.Rows = append(data.Rows, line)
		}
		text, err := render("rows", data)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n") + "\n", nil
}

// alike reports whether two rows set the same columns of one table.
func alike(a, b model.Row) bool {
	same := func(x, y model.Assign) bool { return x.Column == y.Column }
	return a.Table == b.Table && slices.EqualFunc(a.Set, b.Set, same)
}

func rowLine(r model.Row) (string, error) {
	var values []string
	for _, a := range r.Set {
		if a.Value.Kind == model.NullValue {
			values = append(values, "NULL")
			continue
		}
		text, err := literal(a.Column.Type, a.Value.Const)
		if err != nil {
			return "", err
		}
		values = append(values, text)
	}
	return "(" + strings.Join(values, ", ") + ")", nil
}
