package proof

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Name is how SQL names a table: quoted, with its schema if the spec has one.
func Name(t *model.Table) string {
	if t.Schema == "" {
		return quoted(t.InDatabase())
	}
	return quoted(t.Schema, t.InDatabase())
}

func quoted(parts ...string) string { return pgx.Identifier(parts).Sanitize() }

// Insert returns the statements that insert rows.
func Insert(rows []model.Row) (string, error) {
	var b strings.Builder
	for _, r := range rows {
		var columns, values []string
		for _, a := range r.Set {
			value, err := literal(a)
			if err != nil {
				return "", err
			}
			columns, values = append(columns, quoted(a.Column.InDatabase())), append(values, value)
		}
		b.WriteString("INSERT INTO " + Name(r.Table) + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ");\n")
	}
	return b.String(), nil
}

// literal is a value where Postgres gives it the type of its column.
func literal(a model.Assign) (string, error) {
	if a.Value.Kind == model.NullValue {
		return "NULL", nil
	}
	text, err := a.Value.Const.In(a.Column.Type)
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", err
}
