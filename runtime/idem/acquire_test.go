package idem_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// crowded returns a pool of one connection.
func crowded(t *testing.T, db *pgxpool.Pool, hook func(context.Context, *pgx.Conn) error) *pgxpool.Pool {
	t.Helper()
	cfg := db.Config()
	cfg.MaxConns, cfg.AfterConnect = 1, hook
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// bothPartitions assigns two partitions that have no ledger yet.
func bothPartitions(t *testing.T, sink idem.Sink) []idem.Partition {
	t.Helper()
	list := []idem.Partition{first, {Topic: topic, Number: 1}}
	for _, p := range list {
		a := newSource(nil).assignment
		a.Partition = p
		if _, err := sink.Assigned(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// Partitions that share a connection wait for each other's handlers. That time is none of
// their own transaction's: each event takes effect, and no handler is called twice.
func TestWaitForAConnectionCountsForNoRecord(t *testing.T) {
	lengthy(t)
	const each = 3
	db := database(t)
	var calls atomic.Int32
	c := service{policy: impatient, edit: func(s *wire.Service) {
		s.Limits.BatchTimeout, s.Limits.EventTimeout = 1800*time.Millisecond, 1700*time.Millisecond // less than two calls take
	}, handle: func(ctx context.Context, _ idem.Tx, _ int32) error {
		calls.Add(1)
		select {
		case <-time.After(time.Second):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}.consumer(t, crowded(t, db, nil))
	sink := drive(t, c)
	var all sync.WaitGroup
	for _, p := range bothPartitions(t, sink) {
		all.Go(func() {
			for offset := range int64(each) {
				if err := sink.Deliver(t.Context(), p, recordsOf(p, offset, "call 1")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	want(t, "dead letters", letters(t, db), "")
	want(t, "calls", int(calls.Load()), 2*each)
	want(t, "applied", c.Stats().Applied, 2*each)
}

// Who waits for a connection for long is told of, and goes on when there is one.
func TestWaitForAConnectionIsTold(t *testing.T) {
	lengthy(t)
	db := database(t)
	log, option := logged()
	release := make(chan struct{})
	c := service{options: []idem.Option{option}, handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `SELECT 1`)
		<-release
		return err
	}, edit: func(s *wire.Service) {
		s.Limits.BatchTimeout, s.Limits.EventTimeout = 20*time.Second, 15*time.Second
	}}.consumer(t, crowded(t, db, nil))
	sink := drive(t, c)
	list := bothPartitions(t, sink)
	done := make(chan error, len(list))
	for i, p := range list {
		go func() { done <- sink.Deliver(t.Context(), p, recordsOf(p, 0, []string{"call 1", "put 2 2"}[i])) }()
		if i == 0 {
			within(t, "a transaction of the first", func() bool {
				return query(t, db, `SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database() AND state = 'idle in transaction'`) == "1"
			})
		}
	}
	const text = "it waits for a connection: all 1 of this process are in use: raise pool_max_conns"
	within(t, "Health", func() bool { return tells(c, "test.v1/1: ", text) })
	close(release)
	for range list {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	want(t, "lines", strings.Count(log.String(), text), 1)
	if err := c.Health().Err(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	want(t, "rows", table(t, db), "2=2")
}

// What the server says while a connection is opened is about no record, whatever its code:
// nothing of the record was sent.
func TestErrorOfAConnectIsNoRecordsFault(t *testing.T) {
	most := int32(impatient.Retries) + 1
	for name, raise := range map[string]string{
		"cancelled": `RAISE query_canceled`, "of a function": `RAISE 'no'`, "data": `RAISE unique_violation`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			var failing, failed atomic.Int32
			c := service{policy: impatient}.consumer(t, crowded(t, db, func(ctx context.Context, conn *pgx.Conn) error {
				if failing.Load() == 0 || failed.Load() > most {
					return nil
				}
				failed.Add(1)
				_, err := conn.Exec(ctx, `DO $$BEGIN `+raise+`; END$$`)
				return err
			}))
			w := own(t, c)
			apply(t, w, records(0, "put 1 1"))
			failing.Store(1)
			query(t, db, `SELECT count(pg_terminate_backend(pid, 5000))::text FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database()`)
			time.Sleep(1100 * time.Millisecond) // the pool looks at connections that were idle for a second
			for end := time.Now().Add(soon); w.Next() == 1 && time.Now().Before(end); {
				_, _ = w.Apply(t.Context(), records(1, "put 2 2"))
			}
			want(t, "failed", failed.Load(), most+1)
			want(t, "rows", table(t, db), "1=1 2=2")
			want(t, "dead letters", letters(t, db), "")
		})
	}
}

// A server that falls silent while it lets a connection in costs the pool that connection for a
// time, not for ever.
func TestConnectionThatNeverOpensIsGivenUp(t *testing.T) {
	t.Parallel()
	db := database(t)
	var falls atomic.Bool
	silent := crowded(t, db, func(ctx context.Context, _ *pgx.Conn) error {
		if !falls.CompareAndSwap(true, false) {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	s := service{edit: func(s *wire.Service) { s.Limits.BatchTimeout = 2 * time.Second }}
	w := own(t, s.consumer(t, silent))
	apply(t, w, records(0, "put 1 1"))
	falls.Store(true)
	idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database()`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		_, err := w.Apply(ctx, records(1, "put 2 2"))
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	want(t, "rows", table(t, db), "1=1 2=2")
	want(t, "a connection was left in silence", falls.Load(), false)
}
