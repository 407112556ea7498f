package idem_test

import (
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
	"github.com/idemgen/idemgen/runtime/wire"
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

// Bug: the window by the process's clock. A late copy just inside the window is a
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

// The database's clock is two hours behind while a key, a dead letter and the outcome of an effect
// are written. Once it is set right, they are as old as they are.
func TestClockThatIsSetRightMakesNothingOld(t *testing.T) {
	t.Parallel()
	db := database(t)
	clock := fakeClocks(t, db)
	clock.database(t, -2*time.Hour)
	var p provider
	s := p.service(terms)
	s.policy = impatient
	s.policy.Keep = time.Hour
	s.options = append(s.options, idem.WithClock(clock.now))
	s.edit = func(s *wire.Service) { s.Topics[0].Chain = time.Hour }
	c := s.consumer(t, db)
	w := own(t, c)
	want(t, "first", apply(t, w, records(0, "@a: put 1 1", "call x", "e: effect 3")), idem.Result{Applied: 2, Dead: 1})
	clock.database(t, 0)
	move(t, w)
	do(t, func() error { return c.Upkeep(t.Context()) })
	want(t, "a copy", apply(t, w, records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
	w = own(t, s.consumer(t, db))
	want(t, "a copy after a restart", apply(t, w, records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
	want(t, "letters", query(t, db, `SELECT string_agg(state::text || ' ' || (now() - created_at < '1 minute'), ', ') FROM idem_dead_letter`), "d true")
	want(t, "outcomes kept for their time", query(t, db, `SELECT bool_and(forget_at > now() + keep - interval '1 minute')::text FROM idem_lease`), "true")
}

// A partition that was paused, or is behind, forgets no key whose copy may be among the records
// that it has not read, however much time has passed; nor does the next owner. Clocks that jump
// ahead together forget none either: the records' own times do not follow.
func TestWindowIsOfWhatWasRead(t *testing.T) {
	t.Parallel()
	db := database(t)
	clock := fakeClocks(t, db)
	s := inChain(time.Hour, idem.WithClock(clock.now))
	at := int64(0)
	result := func(sink idem.Sink, c *idem.Consumer, texts ...string) string {
		t.Helper()
		before := c.Stats()
		msgs := records(at, texts...)
		for i := range msgs {
			msgs[i].Time = clock.now()
		}
		at += int64(len(msgs))
		deliver(t, sink, msgs)
		now := c.Stats()
		return fmt.Sprint(now.Applied-before.Applied, " applied, ", now.Resent-before.Resent, " resent")
	}
	readAll := func(sink idem.Sink) { sink.End(first, at, time.Now()) }

	c := s.consumer(t, db)
	sink, end := driveUntil(t, c)
	assign(t, sink, 0)
	want(t, "first", result(sink, c, "@a: put 1 1"), "1 applied, 0 resent")
	sink.End(first, at, time.Now().Add(-3*time.Hour)) // the clock that passes is not that of this machine
	result(sink, c, "put 9 9")
	clock.pass(t, 3*time.Hour)
	sink.End(first, at+4, time.Now()) // four records were appended meanwhile
	for range 2 {                     // the first batch learns the time
		want(t, "behind", result(sink, c, "put 9 9"), "1 applied, 0 resent")
	}
	want(t, "a copy among them", result(sink, c, "@a: put 1 1"), "0 applied, 1 resent")
	end()
	c.Close()

	c = s.consumer(t, db)
	sink, end = driveUntil(t, c)
	assign(t, sink, at)
	want(t, "a copy among the records that waited", result(sink, c, "@a: put 1 1"), "0 applied, 1 resent")
	readAll(sink)
	result(sink, c, "put 9 9")
	result(sink, c, "put 9 9")
	want(t, "a copy after them", result(sink, c, "@a: put 1 1"), "1 applied, 0 resent")
	readAll(sink)

	before := clock.now()
	clock.pass(t, 240*time.Hour) // a jump of both clocks: the records' times do not follow
	msgs := records(at, "put 9 9", "put 9 9", "@a: put 1 1")
	resent := c.Stats().Resent
	for i := range msgs {
		at++
		msgs[i].Time = before
		deliver(t, sink, msgs[i:i+1])
		readAll(sink)
	}
	want(t, "a copy after the jump", c.Stats().Resent, resent+1)
	end()
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

// A full memory pauses the partition, with an alarm. Nothing is forgotten or given up, whatever
// the clock says: the records that wait may be copies. A process with more memory applies them.
func TestFullKeyMemoryPausesThePartition(t *testing.T) {
	t.Parallel()
	db := database(t)
	clock := fakeClocks(t, db)
	log := &transcript.Buffer{}
	small := inChain(time.Hour, idem.WithClock(clock.now), idem.WithKeyMemory(smallMemory), idem.WithLogger(slog.New(slog.NewTextHandler(log, nil)))).consumer(t, db)
	sink, end := driveUntil(t, small)
	assign(t, sink, 0)
	deliver(t, sink, keysAt(0, 25))
	deliver(t, sink, records(25, "@k0: put 0 1"))
	delivered := make(chan error, 1)
	go func() { delivered <- sink.Deliver(t.Context(), first, keysAt(26, 25)) }()
	waitFor(t, "the alarm", func() bool { return small.Health().Err() != nil })
	if err := small.Health().Err(); !strings.Contains(err.Error(), "memory for keys is full") {
		t.Errorf("health: %v", err)
	}
	if !strings.Contains(log.String(), "memory for keys is full") {
		t.Error("no line in the log")
	}
	clock.pass(t, 2*time.Hour)
	waits := small.Stats().Waits
	waitFor(t, "another try", func() bool { return small.Stats().Waits > waits+1 })
	stopped := small.Stats().Applied
	sink.Revoked(first)
	<-delivered
	end()
	want(t, "memory of a partition given up", small.KeyMemoryUsed(), 0)

	c := inChain(time.Hour, idem.WithClock(clock.now)).consumer(t, db)
	src := newSource(keysAt(26, 25))
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	s, more := small.Stats(), c.Stats()
	want(t, "applied, resent, dead", fmt.Sprint(stopped+more.Applied, s.Resent, s.Dead+more.Dead), "50 1 0")
	want(t, "position", query(t, db, `SELECT max(next)::text FROM idem_ledger`), "51")
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
