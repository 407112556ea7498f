package handler_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// The error of a callback is that of its record, also if another record's statement failed in the
// same round trip.
func TestErrorOfACallbackIsNotThatOfAnotherStatement(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
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
	}}.Consumer(t, db)
	src := rig.NewSource(rig.Records(0, "call 2", "call 1", "call 1", "call 2")) // the first two prepare the texts
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 handler, 3 handler")
}

// A callback that takes too long spoils no statement of the handler that sends it.
func TestSlowCallbackSpoilsNoOtherCall(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	c := rig.Service{Edit: func(s *wire.Service) { s.Limits.EventTimeout = 500 * time.Millisecond }, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		if row == 1 {
			tx.Queue(rig.AddSQL, 1).Exec(func(pgconn.CommandTag) error { time.Sleep(700 * time.Millisecond); return nil })
			return nil
		}
		_, err := tx.Exec(ctx, rig.AddSQL, row)
		return err
	}}.Consumer(t, db)
	src := rig.NewSource(rig.Records(0, "put 1 0", "put 2 0", "call 1", "call 2"))
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=1")
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
			tx.Queue(rig.AddSQL, 7).Exec(insert(tx))
			return nil
		},
		"in a callback, while the handler runs": func(ctx context.Context, tx idem.Tx) error {
			tx.Queue(rig.AddSQL, 7).Exec(insert(tx))
			_, err := tx.Exec(ctx, `SELECT 1`)
			return err
		},
		"in a goroutine that the handler left": func(ctx context.Context, tx idem.Tx) error {
			rows, err := tx.Query(ctx, `SELECT 1`)
			tx.Queue(rig.AddSQL, valuer(func() { // is called after the handler has returned
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
			tx.Queue(rig.AddSQL, valuer(func() { panic("secret") }))
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
			db := rig.Database(t)
			c := rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error { return handle(ctx, tx) }}.Consumer(t, db)
			src := rig.NewSource(rig.Records(0, "call 1", "put 2 2"))
			if err := src.Consume(t, c); err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "rows", rig.Table(t, db), "2=2")
			rig.Want(t, "dead letters", rig.Letters(t, db), "0 handler")
		})
	}
}

// What a callback does with the transaction is an error that says what to do, also if it ignores
// it, and whether the handler still runs or has returned.
func TestCallbackMustNotUseTheTransaction(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, use := range map[string]func(tx idem.Tx){
		"Queue":     func(tx idem.Tx) { tx.Queue(`INSERT INTO t VALUES (7, 1)`) },
		"Exec":      func(tx idem.Tx) { _, _ = tx.Exec(ctx, `INSERT INTO t VALUES (7, 1)`) },
		"Query":     func(tx idem.Tx) { _, _ = tx.Query(ctx, `INSERT INTO t VALUES (7, 1)`) },
		"QueryRow":  func(tx idem.Tx) { _ = tx.QueryRow(ctx, `INSERT INTO t VALUES (7, 1)`).Scan() },
		"SendBatch": func(tx idem.Tx) { _ = tx.SendBatch(ctx, &pgx.Batch{}).Close() },
	} {
		for when, after := range map[string]func(tx idem.Tx) error{
			"at the end":             func(idem.Tx) error { return nil },
			"while the handler runs": func(tx idem.Tx) error { _, err := tx.Exec(ctx, `SELECT 1`); return err },
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				db := rig.Database(t)
				c := rig.Service{Policy: rig.Impatient, Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
					tx.Queue(rig.AddSQL, 7).Exec(func(pgconn.CommandTag) error { use(tx); return nil })
					return after(tx)
				}}.Consumer(t, db)
				if err := rig.NewSource(rig.Records(0, "call 1", "put 2 2")).Consume(t, c); err != nil {
					t.Fatal(err)
				}
				rig.Want(t, "rows", rig.Table(t, db), "2=2")
				reason := rig.Query(t, db, `SELECT coalesce(max(reason), '') FROM idem_dead_letter WHERE offs = 0`)
				for _, want := range []string{"a callback of Queue must not use the Tx", "use tx.Exec or tx.Query in place of tx.Queue"} {
					if !strings.Contains(reason, want) {
						t.Errorf("reason %q, want %q in it", reason, want)
					}
				}
			})
		}
	}
}

// A callback may be set until its statement is sent.
func TestCallbackMayBeSetLater(t *testing.T) {
	t.Parallel()
	for _, n := range []int{100, 101, 150} {
		db := rig.Database(t)
		ran := 0
		c := rig.Service{Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
			var queued []*pgx.QueuedQuery
			for range n {
				queued = append(queued, tx.Queue(rig.AddSQL, 1))
			}
			for _, q := range queued {
				q.Exec(func(pgconn.CommandTag) error { ran++; return nil })
			}
			return nil
		}}.Consumer(t, db)
		rig.Apply(t, rig.Own(t, c), rig.Records(0, "put 1 0", "call 1"))
		rig.Want(t, fmt.Sprintf("callbacks of %d statements", n), ran, n)
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
	db := rig.Database(t)
	c := rig.Service{Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
		tx.Queue(`SELECT 1 / 0`, rewriterThatWrites{})
		return nil
	}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "call 1"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 handler")
	rig.Want(t, "rows", rig.Table(t, db), "")
}

// A statement whose parameters have other types than when it was prepared works again once it has
// failed, as it does with Exec.
func TestQueuedStatementIsPreparedAgainAfterAnError(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE TABLE x (a text)`)
	c := rig.Service{Policy: rig.Impatient, Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
		tx.Queue(`INSERT INTO x (a) VALUES ($1)`, `"x"`)
		return nil
	}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "call 1"))
	idemtest.Exec(t, db, `ALTER TABLE x ALTER COLUMN a TYPE jsonb USING a::jsonb`)
	_, err := rig.Own(t, c).Apply(t.Context(), rig.Records(1, "call 2"))
	rig.WantError[*idem.HaltedError](t, err)
	rig.Apply(t, rig.Own(t, c), rig.Records(1, "call 2")) // as after a release
	rig.Want(t, "rows", rig.Query(t, db, `SELECT count(*)::text FROM x`), "2")
}

// Queued statements that are slow do not take a batch beyond its time again and again: once they
// were seen to be slow, they are sent earlier, and the transaction ends early.
func TestSlowQueuedStatementsEndTheTransactionEarly(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	calls := 0
	c := rig.Service{Policy: rig.Impatient, Edit: func(s *wire.Service) { s.Limits.BatchTimeout = 3 * time.Second }, Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
		calls++
		tx.Queue(`SELECT pg_sleep(0.1)`)
		return nil
	}}.Consumer(t, db)
	var texts []string
	for range 60 {
		texts = append(texts, "call 1")
	}
	src := rig.NewSource(rig.Records(0, texts...))
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
	if calls > 2*len(texts)+10 { // the first batch alone is repeated
		t.Errorf("%d calls for %d records", calls, len(texts))
	}
}
