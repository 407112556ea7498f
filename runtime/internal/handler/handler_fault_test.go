package handler_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// What is no fault of an event may not count against it: no retries are left here, and
// still nothing becomes a dead letter.
func TestOutageInAHandlerIsNotTheEventsFault(t *testing.T) {
	rig.Lengthy(t)
	for name, test := range map[string]struct {
		edit   func(*wire.Service)
		handle func(first bool) func(ctx context.Context, tx idem.Tx, row int32) error
	}{
		"the batch's time is over": {
			edit: func(s *wire.Service) { s.Limits.BatchTimeout = 500 * time.Millisecond },
			handle: func(bool) func(context.Context, idem.Tx, int32) error {
				return func(ctx context.Context, tx idem.Tx, row int32) error {
					_, err := tx.Exec(ctx, `INSERT INTO t SELECT $1, 1 FROM pg_sleep(0.15)`, row)
					return err
				}
			},
		},
		"the connection is lost": {
			handle: func(first bool) func(context.Context, idem.Tx, int32) error {
				return func(ctx context.Context, tx idem.Tx, row int32) error {
					if row == 3 && first {
						first = false
						_ = idem.PgxTx(tx).Conn().PgConn().Conn().Close()
					}
					_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
					return err
				}
			},
		},
		"the connection is lost, and the handler ends its goroutine": {
			handle: func(first bool) func(context.Context, idem.Tx, int32) error {
				return func(ctx context.Context, tx idem.Tx, row int32) error {
					if row == 3 && first {
						first = false
						_ = idem.PgxTx(tx).Conn().PgConn().Conn().Close()
					}
					if _, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row); err != nil {
						runtime.Goexit() // as FailNow of a test does
					}
					return nil
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			c := rig.Service{Edit: test.edit, Handle: test.handle(true)}.Consumer(t, db)
			if err := rig.NewSource(rig.Records(0, "call 1", "call 2", "call 3", "call 4", "call 5")).Consume(t, c); err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=1 3=1 4=1 5=1")
		})
	}
}

// give_up: stop never writes dead letters, whatever a handler does.
func TestStopOnFailureHoldsForHandlers(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]func(context.Context, idem.Tx, int32) error{
		"panic":     func(context.Context, idem.Tx, int32) error { panic("x") },
		"permanent": func(context.Context, idem.Tx, int32) error { return idem.Permanent(errors.New("never")) },
		"violation": func(ctx context.Context, tx idem.Tx, _ int32) error {
			_, err := tx.Exec(ctx, `INSERT INTO t VALUES (1, 5000)`)
			return err
		},
		"swallowed": func(ctx context.Context, tx idem.Tx, _ int32) error {
			_, _ = tx.Exec(ctx, `SELECT 1/0`)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{Handle: handle, Policy: wire.FailurePolicy{Stop: true}}.Consumer(t, db))
			_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "call 7", "put 3 3"))
			rig.Want(t, "halted before", rig.WantError[*idem.HaltedError](t, err).Offset, 1)
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
		})
	}
}

// A swallowed error is judged by what it was: a missing table is never a record's fault.
func TestSwallowedErrorIsJudgedByItsSQLSTATE(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, _ = tx.Exec(ctx, `INSERT INTO no_such_table VALUES (1)`)
		return nil
	}}.Consumer(t, db))
	_, err := w.Apply(t.Context(), rig.Records(0, "call 1"))
	rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}

func TestHandlerThatIgnoresItsContextHalts(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	release := make(chan struct{})
	c := rig.Service{
		Edit:   func(s *wire.Service) { s.Limits.EventTimeout = 50 * time.Millisecond },
		Handle: func(context.Context, idem.Tx, int32) error { <-release; return nil },
	}.Consumer(t, db)
	src := rig.NewSource(rig.Records(0, "put 1 1", "call 1"))
	halted := rig.WantError[*idem.HaltedError](t, src.Consume(t, c))
	rig.Want(t, "offset", halted.Offset, 1)
	if !strings.Contains(halted.Error(), "handler Test") {
		t.Errorf("the handler is not named: %v", halted)
	}
	close(release)
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
}

// Such a handler still has its tx, and may have the connection behind it, which could serve
// other records next, or none. Neither is of any use to it.
func TestHandlerThatIgnoresItsContextWritesNothing(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	release, late := make(chan struct{}), make(chan error, 2)
	w := rig.Own(t, rig.Service{
		Edit: func(s *wire.Service) { s.Limits.EventTimeout = 50 * time.Millisecond },
		Handle: func(_ context.Context, tx idem.Tx, row int32) error {
			ctx, conn := context.Background(), idem.PgxTx(tx).Conn()
			// Else the server would end the session at about the same time.
			if _, err := tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`); err != nil {
				t.Error(err)
			}
			<-release
			_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
			late <- err
			_, err = conn.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row+1)
			late <- err
			return err
		},
	}.Consumer(t, db))
	_, err := w.Apply(t.Context(), rig.Records(0, "call 1"))
	rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.Handler)
	close(release)
	if err := <-late; !errors.Is(err, pgx.ErrTxClosed) {
		t.Errorf("a statement of its tx: %v", err)
	}
	if err := <-late; err == nil {
		t.Error("a statement of its connection was executed")
	}
	rig.Want(t, "rows", rig.Table(t, db), "")
}

// One that is in the middle of a statement has the connection to itself: with -race this
// shows who else would touch it.
func TestHandlerThatIgnoresItsContextInAStatement(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	ended := make(chan error, 1)
	c := rig.Service{
		Edit: func(s *wire.Service) {
			s.Limits.EventTimeout, s.Limits.StatementTimeout = 50*time.Millisecond, time.Minute
		},
		Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
			conn := idem.PgxTx(tx).Conn()
			_, err := conn.Exec(context.Background(), `SELECT pg_sleep(60)`)
			for range 100 { // and asks it again and again
				_ = conn.IsClosed()
				_ = conn.Ping(context.Background())
			}
			ended <- err
			return err
		},
	}.Consumer(t, db)
	_, err := rig.Own(t, c).Apply(t.Context(), rig.Records(0, "call 1"))
	rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.Handler)
	if err := <-ended; err == nil {
		t.Error("its statement went on")
	}
	rig.Own(t, c)
	rig.Want(t, "rows", rig.Table(t, db), "")
}

func TestResultLeftOpenIsTheHandlersFault(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Query(ctx, `SELECT generate_series(1, 100000)`)
		return err
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 1", "call 1", "put 3 3"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "1 handler")
	rig.Want(t, "rows", rig.Table(t, db), "1=1 3=3")
}

// A handler that returns a nil pointer as its error fails as any other does.
func TestErrorThatCannotBeReadIsAFailure(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	failed := false
	w := rig.Own(t, rig.Service{Policy: rig.Impatient, Handle: func(context.Context, idem.Tx, int32) error {
		if failed {
			return nil
		}
		failed = true
		return (*rig.NilError)(nil)
	}}.Consumer(t, db))
	const text = "it returned an error of type *rig.NilError that cannot be read: one of its methods panics"
	if _, err := w.Apply(t.Context(), rig.Records(0, "call 1", "put 2 2")); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v", err)
	}
	rig.Apply(t, w, rig.Records(0, "call 1", "put 2 2"))
	rig.Want(t, "rows", rig.Table(t, db), "2=2")
}

// The text of a handler's error may hold anything.
func TestAnyErrorTextCanBeStored(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(context.Context, idem.Tx, int32) error {
		return idem.Permanent(errors.New("a\x00b\xff" + strings.Repeat("é", 5000)))
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 1", "put 3 3"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 handler")
}

// Health speaks of assigned partitions only, and of a partition that another owner took
// until it is taken over again.
func TestHealthForgetsPartitionsThatAreGone(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	c := rig.Service{Edit: rig.Hasty}.Consumer(t, db)
	src := rig.NewSource(rig.Records(0, "put 1 1"))
	src.Then = func(ctx context.Context, sink idem.Sink) {
		bad := src.Assignment
		bad.Partition.Number, bad.Committed = 3, rig.CommittedAt(10)
		if _, err := sink.Assigned(ctx, bad); err == nil || c.Health().Err() == nil {
			t.Error("a partition that halts is not reported")
		}
		sink.Revoked(bad.Partition)
		if err := c.Health().Err(); err != nil {
			t.Errorf("after it is gone: %v", err)
		}
		other := rig.Service{}.Consumer(t, db)
		if _, err := other.Own(ctx, rig.Topic, 0, 0); err != nil {
			t.Error(err)
		}
		rig.WantError[*idem.FencedError](t, sink.Deliver(ctx, src.Assignment.Partition, rig.Records(1, "put 2 2")))
		rig.WantError[*idem.FencedError](t, c.Health().Err())
		rig.StandsStill(t, sink)
		if _, err := sink.Assigned(ctx, src.Assignment); err != nil || c.Health().Err() != nil {
			t.Errorf("after it is taken over again: %v, %v", err, c.Health().Err())
		}
	}
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
}
