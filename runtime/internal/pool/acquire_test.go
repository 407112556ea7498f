package pool_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
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
	list := []idem.Partition{rig.First, {Topic: rig.Topic, Number: 1}}
	for _, p := range list {
		a := rig.NewSource(nil).Assignment
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
	rig.Lengthy(t)
	const each = 3
	db := rig.Database(t)
	var calls atomic.Int32
	c := rig.Service{Policy: rig.Impatient, Edit: func(s *wire.Service) {
		s.Limits.BatchTimeout, s.Limits.EventTimeout = 1800*time.Millisecond, 1700*time.Millisecond // less than two calls take
	}, Handle: func(ctx context.Context, _ idem.Tx, _ int32) error {
		calls.Add(1)
		select {
		case <-time.After(time.Second):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}.Consumer(t, crowded(t, db, nil))
	sink := rig.Drive(t, c)
	var all sync.WaitGroup
	for _, p := range bothPartitions(t, sink) {
		all.Go(func() {
			for offset := range int64(each) {
				if err := sink.Deliver(t.Context(), p, rig.RecordsOf(p, offset, "call 1")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
	rig.Want(t, "calls", int(calls.Load()), 2*each)
	rig.Want(t, "applied", c.Stats().Applied, 2*each)
}

// Who waits for a connection for long is told of, and goes on when there is one.
func TestWaitForAConnectionIsTold(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	log, option := rig.Logged()
	release := make(chan struct{})
	c := rig.Service{Options: []idem.Option{option}, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `SELECT 1`)
		<-release
		return err
	}, Edit: func(s *wire.Service) {
		s.Limits.BatchTimeout, s.Limits.EventTimeout = 20*time.Second, 15*time.Second
	}}.Consumer(t, crowded(t, db, nil))
	sink := rig.Drive(t, c)
	list := bothPartitions(t, sink)
	done := make(chan error, len(list))
	for i, p := range list {
		go func() { done <- sink.Deliver(t.Context(), p, rig.RecordsOf(p, 0, []string{"call 1", "put 2 2"}[i])) }()
		if i == 0 {
			rig.Within(t, "a transaction of the first", func() bool {
				return rig.Query(t, db, `SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database() AND state = 'idle in transaction'`) == "1"
			})
		}
	}
	const text = "it waits for a connection: all 1 of this process are in use: raise pool_max_conns"
	rig.Within(t, "Health", func() bool { return rig.Tells(c, "test.v1/1: ", text) })
	close(release)
	for range list {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	rig.Want(t, "lines", strings.Count(log.String(), text), 1)
	if err := c.Health().Err(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "2=2")
}

// What the server says while a connection is opened is about no record, whatever its code:
// nothing of the record was sent.
func TestErrorOfAConnectIsNoRecordsFault(t *testing.T) {
	most := int32(rig.Impatient.Retries) + 1
	for name, raise := range map[string]string{
		"cancelled": `RAISE query_canceled`, "of a function": `RAISE 'no'`, "data": `RAISE unique_violation`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			var failing, failed atomic.Int32
			c := rig.Service{Policy: rig.Impatient}.Consumer(t, crowded(t, db, func(ctx context.Context, conn *pgx.Conn) error {
				if failing.Load() == 0 || failed.Load() > most {
					return nil
				}
				failed.Add(1)
				_, err := conn.Exec(ctx, `DO $$BEGIN `+raise+`; END$$`)
				return err
			}))
			w := rig.Own(t, c)
			rig.Apply(t, w, rig.Records(0, "put 1 1"))
			failing.Store(1)
			rig.Query(t, db, `SELECT count(pg_terminate_backend(pid, 5000))::text FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database()`)
			time.Sleep(1100 * time.Millisecond) // the pool looks at connections that were idle for a second
			for end := time.Now().Add(rig.Soon); w.Next() == 1 && time.Now().Before(end); {
				_, _ = w.Apply(t.Context(), rig.Records(1, "put 2 2"))
			}
			rig.Want(t, "failed", failed.Load(), most+1)
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
		})
	}
}

// A server that hangs answers no ping: that is noticed long before the transaction's limit.
func TestIdleConnectionThatHangsIsNoticedSoon(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	cfg := db.Config()
	proxy, err := cutproxy.New(pgconn.NetworkAddress(cfg.ConnConfig.Host, cfg.ConnConfig.Port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	var silent atomic.Bool
	cfg.BeforeConnect = func(_ context.Context, to *pgx.ConnConfig) error {
		if silent.Load() { // another connection gets no answer either
			to.ConnectTimeout = 100 * time.Millisecond
		}
		return nil
	}
	cfg.ConnConfig.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", proxy.Addr().String())
	}
	through, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(through.Close)
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option}, Edit: func(s *wire.Service) { s.Limits.BatchTimeout = 2 * rig.Soon }}.Consumer(t, through)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "put 1 1"))
	time.Sleep(1100 * time.Millisecond) // the pool looks at connections that were idle for a second
	silent.Store(true)
	proxy.Silence(cutproxy.Up, true)
	proxy.Silence(cutproxy.Down, true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for err := errors.ErrUnsupported; err != nil && t.Context().Err() == nil; {
			_, err = w.Apply(t.Context(), rig.Records(1, "put 2 2"))
		}
	}()
	rig.Within(t, "the log", func() bool { return strings.Contains(log.String(), "no connection to the database: no answer in time") })
	silent.Store(false)
	proxy.Silence(cutproxy.Up, false)
	proxy.Silence(cutproxy.Down, false)
	proxy.CutAll() // what hangs
	<-ended
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

// A server that falls silent while it lets a connection in costs the pool that connection for a
// time, not for ever.
func TestConnectionThatNeverOpensIsGivenUp(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var falls atomic.Bool
	silent := crowded(t, db, func(ctx context.Context, _ *pgx.Conn) error {
		if !falls.CompareAndSwap(true, false) {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	s := rig.Service{Edit: func(s *wire.Service) { s.Limits.BatchTimeout = 2 * time.Second }}
	w := rig.Own(t, s.Consumer(t, silent))
	rig.Apply(t, w, rig.Records(0, "put 1 1"))
	falls.Store(true)
	idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database()`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		_, err := w.Apply(ctx, rig.Records(1, "put 2 2"))
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
	rig.Want(t, "a connection was left in silence", falls.Load(), false)
}
