package idem_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// addOne adds one to a row, which must be there.
func addOne(ctx context.Context, tx idem.Tx, row int32) error {
	tag, err := tx.Exec(ctx, `UPDATE t SET v = v + 1 WHERE id = $1`, row)
	if err == nil && tag.RowsAffected() == 0 {
		err = idem.Permanent(errors.New("no such row"))
	}
	return err
}

var impatient = wire.FailurePolicy{Retries: 2, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond}

// The effects of a batch keep the order of its records: a handler sees what stands before
// it, and not what stands after it.
func TestHandlerSeesWhatStandsBeforeIt(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{handle: addOne}.consumer(t, db)
	w := own(t, c)
	apply(t, w, records(0, "put 1 10", "call 1", "put 2 5", "put 1 50", "call 1", "call 2"))
	want(t, "rows", table(t, db), "1=51 2=6")
	want(t, "searches", c.Stats().Searches, 0)
}

func TestPermanentErrorIsADeadLetterOfTheSameBatch(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: addOne}.consumer(t, db))
	apply(t, w, records(0, "call 1", "put 1 10", "call 1", "call 2", "put 2 2"))
	want(t, "rows", table(t, db), "1=11 2=2")
	want(t, "dead letters", letters(t, db), "0 handler, 3 handler")
}

// Planted bug: COMMIT's tag and the transaction's state unchecked.
func TestSwallowedErrorOfAHandlerIsADeadLetter(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		if row == 2 {
			_, _ = tx.Exec(ctx, `SELECT 1/0`)
		}
		return nil
	}}.consumer(t, db))
	apply(t, w, records(0, "put 1 10", "call 2", "call 3", "put 4 4"))
	want(t, "rows", table(t, db), "1=10 4=4")
	want(t, "dead letters", letters(t, db), "1 handler")
	want(t, "next", w.Next(), 4)
}

func TestTxCannotBeEnded(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		if _, ok := tx.(pgx.Tx); ok {
			return errors.New("Tx is a pgx.Tx")
		}
		p := idem.PgxTx(tx)
		if err := p.Commit(ctx); !errors.Is(err, idem.ErrTxOwned) {
			return fmt.Errorf("Commit: %w", err)
		}
		if err := p.Rollback(ctx); !errors.Is(err, idem.ErrTxOwned) {
			return fmt.Errorf("Rollback: %w", err)
		}
		return pgx.BeginFunc(ctx, p, func(savepoint pgx.Tx) error {
			_, err := savepoint.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
			return err
		})
	}, policy: impatient}.consumer(t, db))
	apply(t, w, records(0, "call 1"))
	want(t, "rows", table(t, db), "1=1")
	want(t, "dead letters", letters(t, db), "")
}

func TestPanicAndGoexitAreContained(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(_ context.Context, _ idem.Tx, row int32) error {
		switch row {
		case 1:
			panic("secret")
		case 2:
			runtime.Goexit()
		}
		return nil
	}, policy: wire.FailurePolicy{}}.consumer(t, db))
	apply(t, w, records(0, "call 1", "put 5 5", "call 2", "call 3"))
	want(t, "dead letters", letters(t, db), "0 handler, 2 handler")
	want(t, "payload in the reason", query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE reason LIKE '%secret%'`), "0")
}

func TestMissingHandlerHaltsAndLosesNothing(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(context.Context, idem.Tx, int32) error {
		return fmt.Errorf("Test: %w", idem.ErrNotImplemented)
	}}.consumer(t, db))
	_, err := w.Apply(t.Context(), records(0, "put 1 1", "call 1"))
	halted := wantError[*idem.HaltedError](t, err)
	want(t, "offset", halted.Offset, 1)
	want(t, "dead letters", letters(t, db), "")
}

func TestRetriesAreCountedThenGivenUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy wire.FailurePolicy
		calls  int
		halts  bool
	}{
		"dead letter": {policy: impatient, calls: 3},
		"stop":        {policy: wire.FailurePolicy{Retries: 1, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond, Stop: true}, calls: 2, halts: true},
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			calls, attempt := 0, 0
			c := service{policy: test.policy, handle: func(ctx context.Context, _ idem.Tx, _ int32) error {
				calls++
				d, _ := idem.DeliveryFrom(ctx)
				attempt = d.Attempt
				return errors.New("not now")
			}}.consumer(t, db)
			src := newSource(records(0, "put 1 1", "call 1", "put 2 2"))
			err := src.run(t, c)
			want(t, "calls", calls, test.calls)
			want(t, "last attempt", attempt, test.calls)
			if test.halts {
				want(t, "halted before", wantError[*idem.HaltedError](t, err).Offset, 1)
				want(t, "rows", table(t, db), "1=1")
				return
			}
			want(t, "rows", table(t, db), "1=1 2=2")
			want(t, "dead letters", letters(t, db), "1 handler")
		})
	}
}

func TestRetryAfterDoesNotCount(t *testing.T) {
	t.Parallel()
	db := database(t)
	calls := 0
	c := service{policy: wire.FailurePolicy{Retries: 1, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond}, handle: func(context.Context, idem.Tx, int32) error {
		if calls++; calls < 5 {
			return idem.RetryAfter(time.Millisecond, errors.New("busy"))
		}
		return nil
	}}.consumer(t, db)
	if err := newSource(records(0, "call 1")).run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "calls", calls, 5)
	want(t, "dead letters", letters(t, db), "")
}

// An error of the database in a handler is judged by its SQLSTATE: a lock is tried for
// again without counting, a violation is a dead letter at once.
func TestHandlersDatabaseErrorIsJudgedBySQLSTATE(t *testing.T) {
	t.Parallel()
	db := database(t)
	calls := 0
	c := service{policy: wire.FailurePolicy{}, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		calls++
		if row == 1 && calls > 3 {
			return nil
		}
		sql := `LOCK TABLE busy NOWAIT`
		if row == 2 {
			sql = `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '23505'; END $$`
		}
		_, err := tx.Exec(ctx, sql)
		return err
	}}.consumer(t, db)
	lockBusy(t, db)
	if err := newSource(records(0, "call 1", "call 2")).run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "dead letters", letters(t, db), "1 handler")
}

func TestEventTimeoutEndsACall(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{
		edit: func(s *wire.Service) { s.Limits.EventTimeout = 50 * time.Millisecond },
		handle: func(ctx context.Context, tx idem.Tx, row int32) error {
			if row == 1 {
				_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
				return err
			}
			return nil
		},
	}.consumer(t, db)
	if err := newSource(records(0, "put 5 5", "call 1", "call 2")).run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "dead letters", letters(t, db), "1 handler")
	want(t, "rows", table(t, db), "5=5")
}

func TestMiddlewareRunsInsideTheTransaction(t *testing.T) {
	t.Parallel()
	db := database(t)
	idemtest.Exec(t, db, `CREATE TABLE audit (event text, attempt integer)`)
	var order []string
	mark := func(name string) idem.Middleware {
		return func(next idem.HandlerFunc) idem.HandlerFunc {
			return func(ctx context.Context, tx idem.Tx) error {
				order = append(order, name)
				d, ok := idem.DeliveryFrom(ctx)
				if !ok {
					return errors.New("no delivery")
				}
				if _, err := tx.Exec(ctx, `INSERT INTO audit VALUES ($1, $2)`, d.Event, d.Attempt); err != nil {
					return err
				}
				return next(ctx, tx)
			}
		}
	}
	s := service{handle: addOne, options: []idem.Option{idem.WithMiddleware(mark("outer"), mark("inner"))}}
	w := own(t, s.consumer(t, db))
	apply(t, w, records(0, "put 1 1", "call 1"))
	want(t, "order", fmt.Sprint(order), "[outer inner]")
	want(t, "audit", query(t, db, `SELECT count(*)::text FROM audit WHERE event = 'Test' AND attempt = 1`), "2")
	apply(t, w, records(2, "call 9"))
	want(t, "audit after a dead letter", query(t, db, `SELECT count(*)::text FROM audit`), "2")
}

// on_failure: give_up: stop never writes dead letters: not for records that do not decode,
// nor for those that the database refuses.
func TestStopOnFailureHaltsInsteadOfDeadLetters(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{"decode": "nonsense x", "database": "put 2 5000", "too large": "put 2 " + strings.Repeat("0", 2000)} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			w := own(t, service{edit: func(s *wire.Service) { s.Topics[0].OnFailure.Stop = true }}.consumer(t, db))
			_, err := w.Apply(t.Context(), records(0, "put 1 1", bad, "put 3 3"))
			want(t, "halted before", wantError[*idem.HaltedError](t, err).Offset, 1)
			want(t, "rows", table(t, db), "1=1")
			want(t, "dead letters", letters(t, db), "")
		})
	}
}
