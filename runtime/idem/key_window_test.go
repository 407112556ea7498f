package idem_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// clocks are those of a database and of a process, both set by the test.
type clocks struct {
	db    *pgxpool.Pool
	ahead atomic.Int64 // of the real time, in both
	skew  atomic.Int64 // of the process, beyond that
}

// fakeClocks must be called before the database is used by a consumer: connections opened
// later see another clock_timestamp().
func fakeClocks(t *testing.T, db *pgxpool.Pool) *clocks {
	t.Helper()
	idemtest.Exec(t, db, `
REVOKE CREATE ON SCHEMA public FROM PUBLIC; -- of Postgres 14, where no schema before pg_catalog is trusted otherwise
CREATE SCHEMA fake;
CREATE TABLE fake.clock (ahead interval);
INSERT INTO fake.clock VALUES ('0');
CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT pg_catalog.clock_timestamp() + (SELECT ahead FROM fake.clock)';
ALTER TABLE idem_ledger ALTER written_at SET DEFAULT fake.clock_timestamp();
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = fake, public, pg_catalog', current_database()); END $$`)
	return &clocks{db: db}
}

func (c *clocks) pass(t *testing.T, d time.Duration) {
	t.Helper()
	idemtest.Exec(t, c.db, `UPDATE fake.clock SET ahead = $1`, time.Duration(c.ahead.Add(int64(d))))
}

func (c *clocks) now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load() + c.skew.Load()))
}

// move appends two rows: the first learns the time, the second moves the window.
func move(t *testing.T, w *idem.Writer) {
	t.Helper()
	for range 2 {
		apply(t, w, records(w.Next(), "put 9 9"))
	}
}

// Planted bug 20: the window by the process's clock. A late copy just inside the window is a
// duplicate and one just outside is new, although that clock is wrong.
func TestWindowFollowsTheDatabasesClock(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-4 * time.Minute, 0, 4 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) {
			db := database(t)
			clock := fakeClocks(t, db)
			clock.skew.Store(int64(skew))
			w := own(t, inChain(time.Hour, idem.WithClock(clock.now)).consumer(t, db))
			apply(t, w, records(0, "@a: put 1 1"))
			clock.pass(t, 59*time.Minute)
			move(t, w)
			want(t, "inside", apply(t, w, records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
			clock.pass(t, 2*time.Minute)
			move(t, w)
			want(t, "outside", apply(t, w, records(w.Next(), "@a: put 1 1")), idem.Result{Applied: 1})
		})
	}
}

// Owners whose clocks are wrong in opposite ways agree about a copy at the edge: the window
// is data of the chain.
func TestOwnersAgreeAtTheEdgeOfTheWindow(t *testing.T) {
	t.Parallel()
	db := database(t)
	clock := fakeClocks(t, db)
	next := int64(0)
	copyOf := func(skew time.Duration) idem.Result {
		t.Helper()
		clock.skew.Store(int64(skew))
		w := own(t, inChain(time.Hour, idem.WithClock(clock.now)).consumer(t, db))
		next = w.Next() + 1
		return apply(t, w, records(w.Next(), "@a: put 1 1"))
	}
	const late, early = 4 * time.Minute, -4 * time.Minute
	want(t, "first", copyOf(late), idem.Result{Applied: 1})
	clock.pass(t, 58*time.Minute)
	want(t, "inside, the clock is fast", copyOf(late), idem.Result{Duplicates: 1})
	want(t, "inside, the clock is slow", copyOf(early), idem.Result{Duplicates: 1})
	clock.pass(t, 3*time.Minute)
	want(t, "outside, the clock is slow", copyOf(early), idem.Result{Applied: 1})
	want(t, "its copy", copyOf(late), idem.Result{Duplicates: 1})
	want(t, "position", query(t, db, `SELECT max(next)::text FROM idem_ledger`), fmt.Sprint(next))
}

// While the clocks are far apart nothing expires, and the log says so.
func TestWindowStandsWhileClocksDisagree(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-6 * time.Minute, 24 * time.Hour} {
		t.Run(skew.String(), func(t *testing.T) {
			db := database(t)
			clock := fakeClocks(t, db)
			log := &transcript.Buffer{}
			c := inChain(time.Hour, idem.WithClock(clock.now), idem.WithLogger(slog.New(slog.NewTextHandler(log, nil)))).consumer(t, db)
			w := own(t, c)
			apply(t, w, records(0, "@a: put 1 1"))
			clock.skew.Store(int64(skew))
			clock.pass(t, 2*time.Hour)
			move(t, w)
			want(t, "live", apply(t, w, records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
			w = own(t, c)
			want(t, "taken over", apply(t, w, records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
			if !strings.Contains(log.String(), "clocks of the database and this process differ") {
				t.Errorf("no alarm: %s", log)
			}
			clock.skew.Store(0)
			move(t, w)
			want(t, "agreed", apply(t, w, records(w.Next(), "@a: put 1 1")), idem.Result{Applied: 1})
		})
	}
}

// A clock that goes back, or a longer window, moves no window backward.
func TestWindowNeverMovesBackward(t *testing.T) {
	t.Parallel()
	db := database(t)
	clock := fakeClocks(t, db)
	w := own(t, inChain(time.Hour, idem.WithClock(clock.now)).consumer(t, db))
	apply(t, w, records(0, "@a: put 1 1"))
	clock.pass(t, 2*time.Hour)
	move(t, w)
	clock.pass(t, -2*time.Hour)
	want(t, "the clock went back", apply(t, w, records(w.Next(), "@a: put 1 1")), idem.Result{Applied: 1})
	w = own(t, inChain(10*time.Hour, idem.WithClock(clock.now)).consumer(t, db))
	apply(t, w, records(w.Next(), "put 9 9"))
	want(t, "rows that go back", query(t, db, `SELECT count(*)::text FROM idem_ledger a JOIN idem_ledger b ON b.seq = a.seq + 1 AND b.window_seq < a.window_seq`), "0")
}

// A take-over measures a part of a long chain. If all of that is old, the window moves so far.
func TestWindowOfALongChain(t *testing.T) {
	t.Parallel()
	db := database(t)
	own(t, inChain(time.Hour).consumer(t, db))
	const rows = 30_000
	idemtest.Exec(t, db, `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at, keys)
SELECT 1, n + 1, gen_random_uuid(), n - 1, n, 'b', -1, 1, 1, 0, clock_timestamp() - interval '2 hours', decode(md5(n::text), 'hex') || '\x00000007' FROM generate_series(1, $1::int) n`, rows)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET written_at = written_at - interval '2 hours' WHERE seq < 2`)
	w := own(t, inChain(time.Hour).consumer(t, db))
	want(t, "keys", w.Keys(), rows+2-20_000)
	move(t, w)
	want(t, "keys later", w.Keys(), 0)
}

const smallMemory = 40 * 27

// keysAt makes n records with keys of their own.
func keysAt(from int64, n int) []idem.Message {
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("@k%d: put %d 1", from+int64(i), i))
	}
	return records(from, texts...)
}

// A full memory pauses the partition, with an alarm, and nothing is forgotten or given up;
// it goes on when keys leave the window.
func TestFullKeyMemoryPausesUntilKeysLeave(t *testing.T) {
	t.Parallel()
	db := database(t)
	clock := fakeClocks(t, db)
	log := &transcript.Buffer{}
	c := inChain(time.Hour, idem.WithClock(clock.now), idem.WithKeyMemory(smallMemory), idem.WithLogger(slog.New(slog.NewTextHandler(log, nil)))).consumer(t, db)
	src := newSource(keysAt(0, 25))
	src.then = func(ctx context.Context, sink idem.Sink) {
		p := src.assignment.Partition
		if err := sink.Deliver(ctx, p, records(25, "@k0: put 0 1")); err != nil {
			t.Error(err)
		}
		delivered := make(chan error, 1)
		go func() { delivered <- sink.Deliver(ctx, p, keysAt(26, 25)) }()
		waitFor(t, "the alarm", func() bool { return c.Health().Err() != nil })
		if err := c.Health().Err(); !strings.Contains(err.Error(), "memory for keys is full") {
			t.Errorf("health: %v", err)
		}
		if !strings.Contains(log.String(), "memory for keys is full") {
			t.Error("no line in the log")
		}
		clock.pass(t, 2*time.Hour)
		if err := <-delivered; err != nil {
			t.Error(err)
		}
		if err := c.Health().Err(); err != nil {
			t.Errorf("health: %v", err)
		}
	}
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	s := c.Stats()
	want(t, "applied, resent, dead", fmt.Sprint(s.Applied, s.Resent, s.Dead), "50 1 0")
	want(t, "position", query(t, db, `SELECT max(next)::text FROM idem_ledger`), "51")
	want(t, "memory of a partition given up", c.KeyMemoryUsed(), 0)
}

// A partition whose keys do not fit is not taken over, nor is its owner fenced for that.
func TestFullKeyMemoryTakesNoPartitionOver(t *testing.T) {
	t.Parallel()
	db := database(t)
	clock := fakeClocks(t, db)
	old := own(t, inChain(time.Hour, idem.WithClock(clock.now)).consumer(t, db))
	apply(t, old, keysAt(0, 50))
	c := inChain(time.Hour, idem.WithClock(clock.now), idem.WithKeyMemory(smallMemory)).consumer(t, db)
	for range 3 {
		_, err := c.Own(t.Context(), topic, 0, 0)
		if err == nil || !strings.Contains(err.Error(), "memory for keys is full") {
			t.Fatalf("got %v", err)
		}
	}
	want(t, "memory that nobody uses", c.KeyMemoryUsed(), 0)
	apply(t, old, keysAt(50, 1))
	clock.pass(t, 2*time.Hour)
	w := own(t, c)
	want(t, "keys", w.Keys(), 0)
	_, err := old.Apply(t.Context(), keysAt(51, 1))
	wantError[*idem.FencedError](t, err)
}

// What a fenced owner remembered no longer counts.
func TestFencedOwnerFreesItsMemory(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := inChain(time.Hour).consumer(t, db)
	apply(t, own(t, c), keysAt(0, 50))
	used := c.KeyMemoryUsed()
	if used < 50*20 {
		t.Errorf("%d bytes for 50 keys", used)
	}
	old := own(t, c) // the same partition in the same process: its keys count once
	want(t, "used after a second load", c.KeyMemoryUsed(), used)
	ownChain(t, db)
	_, err := old.Apply(t.Context(), keysAt(50, 1))
	wantError[*idem.FencedError](t, err)
	want(t, "used", c.KeyMemoryUsed(), 0)
}

func waitFor(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !ready(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come", what)
		}
	}
}
