package audit

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Querier is a pool, a connection or a transaction. A transaction of level REPEATABLE READ
// makes an audit possible while the service works: progress and effects are of one moment.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Table compares one table. Missing rows should be there and are not, Extra the other way;
// a row with another value is in both.
type Table struct {
	Name            string
	Expected, Found int
	Missing, Extra  []string
}

// Tables compares every table of the service.
func (r *Replay) Tables(ctx context.Context, db Querier) ([]Table, error) {
	var all []Table
	for _, t := range r.service.Tables {
		got, err := lines(ctx, db, selectRows(t, r.in.Columns(t.Name)))
		if err != nil {
			return nil, err
		}
		want := r.in.Rows(t.Name)
		missing, extra := difference(want, got)
		all = append(all, Table{t.Name, len(want), len(got), missing, extra})
	}
	return all, nil
}

// Letters compares the dead letters, as "partition offset class".
func (r *Replay) Letters(ctx context.Context, db Querier) (missing, extra []string, err error) {
	got, err := lines(ctx, db, `
SELECT s.partition || ' ' || d.offs || ' ' || split_part(d.reason, ':', 1) FROM idem_dead_letter d JOIN idem_stream s USING (stream)`)
	if err != nil {
		return nil, nil, err
	}
	missing, extra = difference(r.letters(), got)
	return missing, extra, nil
}

func lines(ctx context.Context, db Querier, sql string) ([]string, error) {
	rows, err := db.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// selectRows prints rows as the oracle does, by Postgres' own functions.
func selectRows(t *model.Table, columns []string) string {
	line := "''"
	for _, c := range t.Columns {
		if !slices.Contains(columns, c.Name) {
			continue
		}
		name := pgx.Identifier{c.Name}.Sanitize()
		text := name + "::text"
		switch c.Type.Kind {
		case model.ColText, model.ColVarchar:
			text = "to_json(" + name + ")::text"
		case model.ColTimestamptz:
			text = "to_char(" + name + ` AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
		}
		line += " || '  " + c.Name + "=' || coalesce(" + text + ", 'NULL')"
	}
	return "SELECT substr(" + line + ", 3) FROM " + pgx.Identifier{t.Name}.Sanitize()
}

// identity is the part of a row's line that its primary key makes.
func identity(t *model.Table, line string) string {
	var parts []string
	for part := range strings.SplitSeq(line, "  ") {
		name, _, _ := strings.Cut(part, "=")
		if slices.ContainsFunc(t.PrimaryKey, func(c *model.Column) bool { return c.Name == name }) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "  ")
}

// difference are the lines of a that b lacks, and the other way.
func difference(a, b []string) (onlyA, onlyB []string) {
	count := map[string]int{}
	for _, l := range a {
		count[l]++
	}
	for _, l := range b {
		if count[l] > 0 {
			count[l]--
			continue
		}
		onlyB = append(onlyB, l)
	}
	for _, l := range a {
		if count[l] > 0 {
			count[l]--
			onlyA = append(onlyA, l)
		}
	}
	return onlyA, onlyB
}
