package handler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// lengthens makes a text long.
type lengthens int

func (l lengthens) RewriteQuery(_ context.Context, _ *pgx.Conn, sql string, args []any) (string, []any, error) {
	return sql + strings.Repeat(" ", int(l)), args, nil
}

// What stays prepared in a session because of handlers is bounded in bytes, however a handler runs
// its statements: texts that differ may be long.
func TestWhatStaysPreparedIsBounded(t *testing.T) {
	t.Parallel()
	const long = 1 << 19
	text := func(i int) string { return fmt.Sprintf(`SELECT $1::int + %d`, i) + strings.Repeat(" ", long+i) }
	for name, run := range map[string]func(ctx context.Context, tx idem.Tx, i int) error{
		"Exec": func(ctx context.Context, tx idem.Tx, i int) error {
			_, err := tx.Exec(ctx, text(i), i)
			return err
		},
		"QueryRow": func(ctx context.Context, tx idem.Tx, i int) error { return tx.QueryRow(ctx, text(i), i).Scan(new(int)) },
		"Query": func(ctx context.Context, tx idem.Tx, i int) error {
			rows, _ := tx.Query(ctx, text(i), pgx.QueryExecModeCacheStatement, i)
			rows.Close()
			return rows.Err()
		},
		"names": func(ctx context.Context, tx idem.Tx, i int) error {
			return tx.QueryRow(ctx, strings.Replace(text(i), "$1", "@n", 1), pgx.NamedArgs{"n": i}).Scan(new(int))
		},
		"a rewriter": func(ctx context.Context, tx idem.Tx, i int) error {
			return tx.QueryRow(ctx, `SELECT $1::int`, lengthens(long+i), i).Scan(new(int))
		},
		"Queue": func(_ context.Context, tx idem.Tx, i int) error {
			tx.Queue(text(i), i).QueryRow(func(row pgx.Row) error { return row.Scan(new(int)) })
			return nil
		},
		"SendBatch": func(ctx context.Context, tx idem.Tx, i int) error {
			b := &pgx.Batch{}
			if i%3 > 0 { // each has as much as several of the others
				return nil
			}
			for j := range 3 {
				b.Queue(text(10*i+j), i)
			}
			b.Queue(`SELECT $1::int`, lengthens(long+i), i)
			return tx.SendBatch(ctx, b).Close()
		},
		"savepoint": func(ctx context.Context, tx idem.Tx, i int) error {
			return pgx.BeginFunc(ctx, idem.PgxTx(tx), func(s pgx.Tx) error { return s.QueryRow(ctx, text(i), i).Scan(new(int)) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			most := int64(0)
			c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, i int32) error {
				if err := run(ctx, tx, int(i)); err != nil {
					return err
				}
				kept := int64(0)
				err := tx.QueryRow(ctx, `SELECT sum(length(statement)) FROM pg_prepared_statements`).Scan(&kept)
				most = max(most, kept)
				return err
			}, Edit: func(s *wire.Service) { // half a megabyte per statement, on a machine that is busy
				s.Limits.BatchTimeout, s.Limits.EventTimeout, s.Limits.StatementTimeout = 4*time.Minute, 2*time.Minute, time.Minute
			}}.Consumer(t, db)
			var calls []string
			for i := range 20 {
				calls = append(calls, fmt.Sprintf("call %d", i))
			}
			rig.Apply(t, rig.Own(t, c), rig.Records(0, calls...))
			rig.Want(t, "dead letters", rig.Query(t, db, `SELECT coalesce(max(reason), '') FROM idem_dead_letter`), "")
			if most > 8<<20+1<<19 || most == 0 {
				t.Errorf("%d bytes of statements stay prepared", most)
			}
		})
	}
}

// A long text is prepared again after a call that failed: its parameters may have other types by
// now.
func TestLongTextIsPreparedAgainAfterAnError(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT t_v_check`)
	v := 1
	c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `UPDATE t SET v = $1 WHERE id = 1`+strings.Repeat(" ", 1<<15), v)
		return err
	}}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "put 1 0", "call 1"))
	idemtest.Exec(t, db, `ALTER TABLE t ALTER v TYPE bigint`)
	v = 1 << 40
	if _, err := w.Apply(t.Context(), rig.Records(2, "call 1")); err == nil {
		t.Error("the text was not prepared")
	}
	rig.Apply(t, w, rig.Records(2, "call 1"))
	rig.Want(t, "rows", rig.Query(t, db, `SELECT v::text FROM t`), fmt.Sprint(v))
}
