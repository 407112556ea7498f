package idem_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// The error of a callback is that of its record, also if another record's statement failed in the
// same round trip.
func TestErrorOfACallbackIsNotThatOfAnotherStatement(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{policy: impatient, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		d, _ := idem.DeliveryFrom(ctx)
		if row == 2 {
			tx.Queue(`SELECT 1 / 0`)
			return nil
		}
		tx.Queue(`SELECT 1`).Exec(func(pgconn.CommandTag) error {
			if d.Attempt < 2 {
				return errors.New("not now")
			}
			return nil
		})
		return nil
	}}.consumer(t, db)
	src := newSource(records(0, "call 2", "call 1", "call 1", "call 2")) // the first two prepare the texts
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "dead letters", letters(t, db), "0 handler, 3 handler")
}

// A callback that takes too long spoils no statement of the handler that sends it.
func TestSlowCallbackSpoilsNoOtherCall(t *testing.T) {
	lengthy(t)
	db := database(t)
	c := service{edit: func(s *wire.Service) { s.Limits.EventTimeout = 500 * time.Millisecond }, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		if row == 1 {
			tx.Queue(addSQL, 1).Exec(func(pgconn.CommandTag) error { time.Sleep(700 * time.Millisecond); return nil })
			return nil
		}
		_, err := tx.Exec(ctx, addSQL, row)
		return err
	}}.consumer(t, db)
	src := newSource(records(0, "put 1 0", "put 2 0", "call 1", "call 2"))
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "dead letters", letters(t, db), "")
	want(t, "rows", table(t, db), "1=1 2=1")
}

type valuer func()

func (v valuer) Value() (driver.Value, error) { v(); return int64(1), nil }

// A statement that cannot be queued is an error of the call: it is not lost.
func TestStatementThatCannotBeQueuedFailsTheCall(t *testing.T) {
	t.Parallel()
	insert := func(tx idem.Tx) func(pgconn.CommandTag) error {
		return func(pgconn.CommandTag) error { tx.Queue(`INSERT INTO t VALUES (7, 1)`); return nil }
	}
	for name, handle := range map[string]func(ctx context.Context, tx idem.Tx) error{
		"in a callback, at the end": func(_ context.Context, tx idem.Tx) error {
			tx.Queue(addSQL, 7).Exec(insert(tx))
			return nil
		},
		"in a callback, while the handler runs": func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(addSQL, 7).Exec(insert(tx))
			_, err := tx.Exec(ctx, `SELECT 1`)
			return err
		},
		"in a goroutine that the handler left": func(ctx context.Context, tx idem.Tx) error {
			rows, err := tx.Query(ctx, `SELECT 1`)
			tx.Queue(addSQL, valuer(func() { // is called after the handler has returned
				var wg sync.WaitGroup
				wg.Go(func() { tx.Queue(`INSERT INTO t VALUES (7, 1)`) })
				wg.Wait()
			}))
			rows.Close()
			return err
		},
		"in a savepoint that has ended": func(ctx context.Context, tx idem.Tx) error {
			savepoint, err := idem.PgxTx(tx).Begin(ctx)
			if err != nil {
				return err
			}
			if err := savepoint.Rollback(ctx); err != nil {
				return err
			}
			savepoint.(idem.Tx).Queue(`INSERT INTO t VALUES (7, 1)`)
			return nil
		},
		"behind an encoder that panics": func(ctx context.Context, tx idem.Tx) (err error) {
			tx.Queue(addSQL, valuer(func() { panic("secret") }))
			tx.Queue(`INSERT INTO t VALUES (7, 1)`)
			defer func() { _ = recover() }()
			_, err = tx.Exec(ctx, `SELECT 1`)
			return err
		},
		"COPY": func(_ context.Context, tx idem.Tx) error {
			tx.Queue("-- all of it\ncopy\tt FROM STDIN")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			c := service{policy: impatient, handle: func(ctx context.Context, tx idem.Tx, _ int32) error { return handle(ctx, tx) }}.consumer(t, db)
			src := newSource(records(0, "call 1", "put 2 2"))
			if err := src.run(t, c); err != nil {
				t.Fatal(err)
			}
			want(t, "rows", table(t, db), "2=2")
			want(t, "dead letters", letters(t, db), "0 handler")
		})
	}
}

// A callback may be set until its statement is sent.
func TestCallbackMayBeSetLater(t *testing.T) {
	t.Parallel()
	for _, n := range []int{100, 101, 150} {
		db := database(t)
		ran := 0
		c := service{handle: func(_ context.Context, tx idem.Tx, _ int32) error {
			var queued []*pgx.QueuedQuery
			for range n {
				queued = append(queued, tx.Queue(addSQL, 1))
			}
			for _, q := range queued {
				q.Exec(func(pgconn.CommandTag) error { ran++; return nil })
			}
			return nil
		}}.consumer(t, db)
		apply(t, own(t, c), records(0, "put 1 0", "call 1"))
		want(t, fmt.Sprintf("callbacks of %d statements", n), ran, n)
	}
}

type rewriterThatWrites struct{}

func (rewriterThatWrites) RewriteQuery(ctx context.Context, conn *pgx.Conn, sql string, args []any) (string, []any, error) {
	_, err := conn.Exec(ctx, `INSERT INTO t VALUES (9, 9)`)
	return sql, args, err
}

// What the rewriter of a queued statement does on the connection is part of the transaction.
func TestRewriterOfAQueuedStatementRunsInTheTransaction(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{handle: func(_ context.Context, tx idem.Tx, _ int32) error {
		tx.Queue(`SELECT 1 / 0`, rewriterThatWrites{})
		return nil
	}}.consumer(t, db)
	apply(t, own(t, c), records(0, "call 1"))
	want(t, "dead letters", letters(t, db), "0 handler")
	want(t, "rows", table(t, db), "")
}

// A statement whose parameters have other types than when it was prepared works again once it has
// failed, as it does with Exec.
func TestQueuedStatementIsPreparedAgainAfterAnError(t *testing.T) {
	t.Parallel()
	db := database(t)
	idemtest.Exec(t, db, `CREATE TABLE x (a text)`)
	c := service{policy: impatient, handle: func(_ context.Context, tx idem.Tx, _ int32) error {
		tx.Queue(`INSERT INTO x (a) VALUES ($1)`, `"x"`)
		return nil
	}}.consumer(t, db)
	apply(t, own(t, c), records(0, "call 1"))
	idemtest.Exec(t, db, `ALTER TABLE x ALTER COLUMN a TYPE jsonb USING a::jsonb`)
	_, err := own(t, c).Apply(t.Context(), records(1, "call 2"))
	wantError[*idem.HaltedError](t, err)
	apply(t, own(t, c), records(1, "call 2")) // as after a release
	want(t, "rows", query(t, db, `SELECT count(*)::text FROM x`), "2")
}

// Queued statements that are slow do not take a batch beyond its time again and again: once they
// were seen to be slow, they are sent earlier, and the transaction ends early.
func TestSlowQueuedStatementsEndTheTransactionEarly(t *testing.T) {
	lengthy(t)
	db := database(t)
	calls := 0
	c := service{policy: impatient, edit: func(s *wire.Service) { s.Limits.BatchTimeout = 3 * time.Second }, handle: func(_ context.Context, tx idem.Tx, _ int32) error {
		calls++
		tx.Queue(`SELECT pg_sleep(0.1)`)
		return nil
	}}.consumer(t, db)
	var texts []string
	for range 60 {
		texts = append(texts, "call 1")
	}
	src := newSource(records(0, texts...))
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "dead letters", letters(t, db), "")
	if calls > 2*len(texts)+10 { // the first batch alone is repeated
		t.Errorf("%d calls for %d records", calls, len(texts))
	}
}
