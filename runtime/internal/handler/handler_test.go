package handler_test

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
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// The effects of a batch keep the order of its records: a handler sees what stands before
// it, and not what stands after it.
func TestHandlerSeesWhatStandsBeforeIt(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{Handle: rig.AddOne}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "put 1 10", "call 1", "put 2 5", "put 1 50", "call 1", "call 2"))
	rig.Want(t, "rows", rig.Table(t, db), "1=51 2=6")
	rig.Want(t, "searches", c.Stats().Searches, 0)
}

func TestPermanentErrorIsADeadLetterOfTheSameBatch(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: rig.AddOne}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 1", "put 1 10", "call 1", "call 2", "put 2 2"))
	rig.Want(t, "rows", rig.Table(t, db), "1=11 2=2")
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 handler, 3 handler")
}

// Planted bug: COMMIT's tag and the transaction's state unchecked.
func TestSwallowedErrorOfAHandlerIsADeadLetter(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		if row == 2 {
			_, _ = tx.Exec(ctx, `SELECT 1/0`)
		}
		return nil
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 10", "call 2", "call 3", "put 4 4"))
	rig.Want(t, "rows", rig.Table(t, db), "1=10 4=4")
	rig.Want(t, "dead letters", rig.Letters(t, db), "1 handler")
	rig.Want(t, "next", w.Next(), 4)
}

func TestTxCannotBeEnded(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
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
	}, Policy: rig.Impatient}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 1"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}

func TestPanicAndGoexitAreContained(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(_ context.Context, _ idem.Tx, row int32) error {
		switch row {
		case 1:
			panic("secret")
		case 2:
			runtime.Goexit()
		}
		return nil
	}, Policy: wire.FailurePolicy{}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 1", "put 5 5", "call 2", "call 3"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 handler, 2 handler")
	odd := idem.WithMiddleware(func(next idem.HandlerFunc) idem.HandlerFunc {
		panic("secret")
	})
	w = rig.Own(t, rig.Service{Handle: rig.AddOne, Options: []idem.Option{odd}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(4, "call 4", "put 6 6"))
	rig.Want(t, "dead letters after a middleware that panics", rig.Letters(t, db), "0 handler, 2 handler, 4 handler")
	rig.Want(t, "payload in the reason", rig.Query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE reason LIKE '%secret%'`), "0")
}

func TestMissingHandlerHaltsAndLosesNothing(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(context.Context, idem.Tx, int32) error {
		return fmt.Errorf("Test: %w", idem.ErrNotImplemented)
	}}.Consumer(t, db))
	_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "call 1"))
	halted := rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "offset", halted.Offset, 1)
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}

func TestRetriesAreCountedThenGivenUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy wire.FailurePolicy
		calls  int
		halts  bool
	}{
		"dead letter": {policy: rig.Impatient, calls: 3},
		"stop":        {policy: wire.FailurePolicy{Retries: 1, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond, Stop: true}, calls: 2, halts: true},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			calls, attempt := 0, 0
			c := rig.Service{Policy: test.policy, Handle: func(ctx context.Context, _ idem.Tx, _ int32) error {
				calls++
				d, _ := idem.DeliveryFrom(ctx)
				attempt = d.Attempt
				return errors.New("not now")
			}}.Consumer(t, db)
			src := rig.NewSource(rig.Records(0, "put 1 1", "call 1", "put 2 2"))
			err := src.Consume(t, c)
			rig.Want(t, "calls", calls, test.calls)
			rig.Want(t, "last attempt", attempt, test.calls)
			if test.halts {
				rig.Want(t, "halted before", rig.WantError[*idem.HaltedError](t, err).Offset, 1)
				rig.Want(t, "rows", rig.Table(t, db), "1=1")
				return
			}
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
			rig.Want(t, "dead letters", rig.Letters(t, db), "1 handler")
		})
	}
}

func TestRetryAfterDoesNotCount(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	calls := 0
	c := rig.Service{Policy: wire.FailurePolicy{Retries: 1, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond}, Handle: func(context.Context, idem.Tx, int32) error {
		if calls++; calls < 5 {
			return idem.RetryAfter(time.Millisecond, errors.New("busy"))
		}
		return nil
	}}.Consumer(t, db)
	if err := rig.NewSource(rig.Records(0, "call 1")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "calls", calls, 5)
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}

// An error of the database in a handler is judged by its SQLSTATE: a lock is tried for
// again without counting, a violation is a dead letter at once.
func TestHandlersDatabaseErrorIsJudgedBySQLSTATE(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	calls := 0
	c := rig.Service{Policy: wire.FailurePolicy{}, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
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
	}}.Consumer(t, db)
	lockBusy(t, db)
	if err := rig.NewSource(rig.Records(0, "call 1", "call 2")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "dead letters", rig.Letters(t, db), "1 handler")
}

func TestEventTimeoutEndsACall(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{
		Edit: func(s *wire.Service) { s.Limits.EventTimeout = 50 * time.Millisecond },
		Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
			if row == 1 {
				_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
				return err
			}
			return nil
		},
	}.Consumer(t, db)
	if err := rig.NewSource(rig.Records(0, "put 5 5", "call 1", "call 2")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "dead letters", rig.Letters(t, db), "1 handler")
	rig.Want(t, "rows", rig.Table(t, db), "5=5")
}

func TestMiddlewareRunsInsideTheTransaction(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
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
	s := rig.Service{Handle: rig.AddOne, Options: []idem.Option{idem.WithMiddleware(mark("outer"), mark("inner"))}}
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 1", "call 1"))
	rig.Want(t, "order", fmt.Sprint(order), "[outer inner]")
	rig.Want(t, "audit", rig.Query(t, db, `SELECT count(*)::text FROM audit WHERE event = 'Test' AND attempt = 1`), "2")
	rig.Apply(t, w, rig.Records(2, "call 9"))
	rig.Want(t, "audit after a dead letter", rig.Query(t, db, `SELECT count(*)::text FROM audit`), "2")
}

// on_failure: give_up: stop never writes dead letters: not for records that do not decode,
// nor for those that the database refuses.
func TestStopOnFailureHaltsInsteadOfDeadLetters(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{"decode": "nonsense x", "database": "put 2 5000", "too large": "put 2 " + strings.Repeat("0", 2000)} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{Edit: func(s *wire.Service) { s.Topics[0].OnFailure.Stop = true }}.Consumer(t, db))
			_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", bad, "put 3 3"))
			rig.Want(t, "halted before", rig.WantError[*idem.HaltedError](t, err).Offset, 1)
			rig.Want(t, "rows", rig.Table(t, db), "1=1")
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
		})
	}
}
