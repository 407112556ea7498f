package idem_test

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
	"github.com/idemgen/idemgen/runtime/wire"
)

// What is no fault of an event may not count against it: no retries are left here, and
// still nothing becomes a dead letter.
func TestOutageInAHandlerIsNotTheEventsFault(t *testing.T) {
	lengthy(t)
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
			db := database(t)
			c := service{edit: test.edit, handle: test.handle(true)}.consumer(t, db)
			if err := newSource(records(0, "call 1", "call 2", "call 3", "call 4", "call 5")).run(t, c); err != nil {
				t.Fatal(err)
			}
			want(t, "dead letters", letters(t, db), "")
			want(t, "rows", table(t, db), "1=1 2=1 3=1 4=1 5=1")
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
			db := database(t)
			w := own(t, service{handle: handle, policy: wire.FailurePolicy{Stop: true}}.consumer(t, db))
			_, err := w.Apply(t.Context(), records(0, "put 1 1", "call 7", "put 3 3"))
			want(t, "halted before", wantError[*idem.HaltedError](t, err).Offset, 1)
			want(t, "dead letters", letters(t, db), "")
		})
	}
}

// A swallowed error is judged by what it was: a missing table is never a record's fault.
func TestSwallowedErrorIsJudgedByItsSQLSTATE(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, _ = tx.Exec(ctx, `INSERT INTO no_such_table VALUES (1)`)
		return nil
	}}.consumer(t, db))
	_, err := w.Apply(t.Context(), records(0, "call 1"))
	wantError[*idem.HaltedError](t, err)
	want(t, "dead letters", letters(t, db), "")
}

func TestHandlerThatIgnoresItsContextHalts(t *testing.T) {
	lengthy(t)
	db := database(t)
	release := make(chan struct{})
	c := service{
		edit:   func(s *wire.Service) { s.Limits.EventTimeout = 50 * time.Millisecond },
		handle: func(context.Context, idem.Tx, int32) error { <-release; return nil },
	}.consumer(t, db)
	src := newSource(records(0, "put 1 1", "call 1"))
	halted := wantError[*idem.HaltedError](t, src.run(t, c))
	want(t, "offset", halted.Offset, 1)
	if !strings.Contains(halted.Error(), "handler Test") {
		t.Errorf("the handler is not named: %v", halted)
	}
	close(release)
	want(t, "dead letters", letters(t, db), "")
}

// Such a handler still has its tx, and may have the connection behind it, which could serve
// other records next, or none. Neither is of any use to it.
func TestHandlerThatIgnoresItsContextWritesNothing(t *testing.T) {
	lengthy(t)
	db := database(t)
	release, late := make(chan struct{}), make(chan error, 2)
	w := own(t, service{
		edit: func(s *wire.Service) { s.Limits.EventTimeout = 50 * time.Millisecond },
		handle: func(_ context.Context, tx idem.Tx, row int32) error {
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
	}.consumer(t, db))
	_, err := w.Apply(t.Context(), records(0, "call 1"))
	want(t, "code", wantError[*idem.HaltedError](t, err).Code, halt.Handler)
	close(release)
	if err := <-late; !errors.Is(err, pgx.ErrTxClosed) {
		t.Errorf("a statement of its tx: %v", err)
	}
	if err := <-late; err == nil {
		t.Error("a statement of its connection was executed")
	}
	want(t, "rows", table(t, db), "")
}

// One that is in the middle of a statement has the connection to itself: with -race this
// shows who else would touch it.
func TestHandlerThatIgnoresItsContextInAStatement(t *testing.T) {
	lengthy(t)
	db := database(t)
	ended := make(chan error, 1)
	c := service{
		edit: func(s *wire.Service) {
			s.Limits.EventTimeout, s.Limits.StatementTimeout = 50*time.Millisecond, time.Minute
		},
		handle: func(_ context.Context, tx idem.Tx, _ int32) error {
			conn := idem.PgxTx(tx).Conn()
			_, err := conn.Exec(context.Background(), `SELECT pg_sleep(60)`)
			for range 100 { // and asks it again and again
				_ = conn.IsClosed()
				_ = conn.Ping(context.Background())
			}
			ended <- err
			return err
		},
	}.consumer(t, db)
	_, err := own(t, c).Apply(t.Context(), records(0, "call 1"))
	want(t, "code", wantError[*idem.HaltedError](t, err).Code, halt.Handler)
	if err := <-ended; err == nil {
		t.Error("its statement went on")
	}
	own(t, c)
	want(t, "rows", table(t, db), "")
}

func TestResultLeftOpenIsTheHandlersFault(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Query(ctx, `SELECT generate_series(1, 100000)`)
		return err
	}}.consumer(t, db))
	apply(t, w, records(0, "put 1 1", "call 1", "put 3 3"))
	want(t, "dead letters", letters(t, db), "1 handler")
	want(t, "rows", table(t, db), "1=1 3=3")
}

// nilError has a method that panics for a nil pointer, as most errors have.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// A handler that returns a nil pointer as its error fails as any other does.
func TestErrorThatCannotBeReadIsAFailure(t *testing.T) {
	t.Parallel()
	db := database(t)
	failed := false
	w := own(t, service{policy: impatient, handle: func(context.Context, idem.Tx, int32) error {
		if failed {
			return nil
		}
		failed = true
		return (*nilError)(nil)
	}}.consumer(t, db))
	const text = "it returned an error of type *idem_test.nilError that cannot be read: one of its methods panics"
	if _, err := w.Apply(t.Context(), records(0, "call 1", "put 2 2")); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v", err)
	}
	apply(t, w, records(0, "call 1", "put 2 2"))
	want(t, "rows", table(t, db), "2=2")
}

// The text of a handler's error may hold anything.
func TestAnyErrorTextCanBeStored(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{handle: func(context.Context, idem.Tx, int32) error {
		return idem.Permanent(errors.New("a\x00b\xff" + strings.Repeat("é", 5000)))
	}}.consumer(t, db))
	apply(t, w, records(0, "call 1", "put 3 3"))
	want(t, "dead letters", letters(t, db), "0 handler")
}

// Health speaks of assigned partitions only, and of a partition that another owner took
// until it is taken over again.
func TestHealthForgetsPartitionsThatAreGone(t *testing.T) {
	lengthy(t)
	db := database(t)
	c := service{edit: hasty}.consumer(t, db)
	src := newSource(records(0, "put 1 1"))
	src.then = func(ctx context.Context, sink idem.Sink) {
		bad := src.assignment
		bad.Partition.Number, bad.Committed = 3, committedAt(10)
		if _, err := sink.Assigned(ctx, bad); err == nil || c.Health().Err() == nil {
			t.Error("a partition that halts is not reported")
		}
		sink.Revoked(bad.Partition)
		if err := c.Health().Err(); err != nil {
			t.Errorf("after it is gone: %v", err)
		}
		other := service{}.consumer(t, db)
		if _, err := other.Own(ctx, topic, 0, 0); err != nil {
			t.Error(err)
		}
		wantError[*idem.FencedError](t, sink.Deliver(ctx, src.assignment.Partition, records(1, "put 2 2")))
		wantError[*idem.FencedError](t, c.Health().Err())
		standsStill(t, sink)
		if _, err := sink.Assigned(ctx, src.assignment); err != nil || c.Health().Err() != nil {
			t.Errorf("after it is taken over again: %v, %v", err, c.Health().Err())
		}
	}
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
}
