package idemtest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// rows reads a table in the form that package oracle gives them. Every value is read as text
// that Postgres makes of it, and then brought into that form by its type.
func (d database) rows(t comparedTable) (rows, error) {
	return readRows(d.t.Context(), d.db, t)
}

func readRows(ctx context.Context, db *pgxpool.Pool, t comparedTable) (rows, error) {
	out := rows{table: t.Name, counted: notCounted}
	types, err := columnTypes(ctx, db, t.sql())
	if err != nil {
		return out, err
	}
	var exprs []string
	for _, c := range t.Columns {
		stored := t.stored(c)
		kind, ok := types[stored]
		if !ok {
			return out, fmt.Errorf("no column %s", stored)
		}
		exprs = append(exprs, selected(pgx.Identifier{stored}.Sanitize(), kind))
	}
	list, err := db.Query(ctx, "SELECT "+strings.Join(exprs, ", ")+" FROM "+t.sql())
	if err != nil {
		return out, err
	}
	defer list.Close()
	values := make([]*string, len(exprs))
	targets := make([]any, len(exprs))
	for i := range values {
		targets[i] = &values[i]
	}
	for list.Next() {
		if err := list.Scan(targets...); err != nil {
			return out, err
		}
		cells := make([]string, len(exprs))
		for i, c := range t.Columns {
			cells[i] = c + "=" + shown(values[i], types[t.stored(c)])
		}
		out.cells = append(out.cells, cells)
	}
	return out, list.Err()
}

// columnTypes are the names of the columns' types, as in pg_type: "int4", "_text". Values of the
// team's own types (named) are texts in the spec.
func columnTypes(ctx context.Context, db *pgxpool.Pool, table string) (map[string]string, error) {
	list, err := db.Query(ctx, `
SELECT a.attname::text, CASE WHEN y.typtype IN ('e', 'd') THEN 'text' ELSE y.typname::text END FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`, table)
	if err != nil {
		return nil, err
	}
	types := map[string]string{}
	var name, kind string
	_, err = pgx.ForEachRow(list, []any{&name, &kind}, func() error { types[name] = kind; return nil })
	return types, err
}

func selected(column, kind string) string {
	switch {
	case kind == "timestamptz":
		return `to_char(` + column + ` AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
	case kind == "timestamp":
		return `to_char(` + column + `, 'YYYY-MM-DD"T"HH24:MI:SS.US')`
	case kind == "date":
		return `to_char(` + column + `, 'YYYY-MM-DD')`
	case kind == "bytea":
		return `'\x' || encode(` + column + `, 'hex')`
	case kind == "_timestamptz", kind == "_timestamp", kind == "_date":
		return `CASE WHEN ` + column + ` IS NOT NULL THEN coalesce((SELECT json_agg(` + selected("e", kind[1:]) + ` ORDER BY n) FROM unnest(` + column + `) WITH ORDINALITY AS u (e, n)), '[]')::text END`
	case strings.HasPrefix(kind, "_"):
		return `array_to_json(` + column + `)::text`
	}
	return column + "::text"
}

// shown is a value in the form that package oracle gives them.
func shown(text *string, kind string) string {
	if text == nil {
		return "NULL"
	}
	switch {
	case kind == "float4", kind == "float8":
		if f, err := strconv.ParseFloat(*text, 64); err == nil {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
	case kind == "json", kind == "jsonb", strings.HasPrefix(kind, "_"):
		return canonicalJSON(*text)
	case slices.Contains(bare, kind):
		return *text
	}
	return quoted(*text)
}

// bare are the types that package oracle gives without quotes. It knows others as the texts that
// events send.
var bare = []string{"bool", "int2", "int4", "int8", "numeric", "uuid", "timestamptz", "timestamp", "date", "bytea"}
