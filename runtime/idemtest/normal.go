package idemtest

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// normalize gives the expected values of types that Postgres reads from texts the form in which it
// writes them: of the inet 10.0.0.1/32 that is 10.0.0.1. A text that Postgres rejects stays.
func (c *runner) normalize(ctx context.Context, db *pgxpool.Pool) error {
	if c.normal == c.want {
		return nil
	}
	for i, t := range c.tables {
		types, err := columnTypes(ctx, db, t.sql())
		if err != nil {
			return err
		}
		for _, row := range c.want.tables[i].cells {
			for j, cell := range row {
				name, value, _ := strings.Cut(cell, "=")
				if kind := types[t.stored(name)]; value != "NULL" && slices.Contains(model.Parsed, strings.TrimPrefix(kind, "_")) {
					row[j] = name + "=" + written(ctx, db, value, kind)
				}
			}
		}
	}
	c.normal = c.want
	return nil
}

// written is a value, as package oracle gives it, as Postgres writes the value of a type.
func written(ctx context.Context, db *pgxpool.Pool, value, kind string) string {
	sql := `SELECT ($1::jsonb #>> '{}')::` + kind + `::text`
	if elem, ok := strings.CutPrefix(kind, "_"); ok {
		sql = `SELECT array_to_json(ARRAY(SELECT jsonb_array_elements_text($1::jsonb))::` + elem + `[])::text`
	}
	rows, _ := db.Query(ctx, sql, value)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return value
	}
	return shown(&texts[0], kind)
}
