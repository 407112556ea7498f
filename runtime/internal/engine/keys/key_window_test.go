package keys_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// move appends two rows: the first learns the time, the second moves the window.
func move(t *testing.T, w *rig.Writer) {
	t.Helper()
	for range 2 {
		rig.Apply(t, w, rig.Records(w.Next(), "put 9 9"))
	}
}

// Bug: the window by the process's clock. A late copy just inside the window is a
// duplicate and one just outside is new, although that clock is wrong.
func TestWindowFollowsTheDatabasesClock(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-4 * time.Minute, 0, 4 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) {
			db := rig.Database(t)
			clock := rig.FakeClocks(t, db)
			clock.Skew.Store(int64(skew))
			w := rig.Own(t, rig.InChain(time.Hour, rig.WithClock(clock.Now)).Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "@a: put 1 1"))
			clock.Pass(t, 59*time.Minute)
			move(t, w)
			rig.Want(t, "inside", rig.Apply(t, w, rig.Records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
			clock.Pass(t, 2*time.Minute)
			move(t, w)
			rig.Want(t, "outside", rig.Apply(t, w, rig.Records(w.Next(), "@a: put 1 1")), idem.Result{Applied: 1})
		})
	}
}

// Owners whose clocks are wrong in opposite ways agree about a copy at the edge: the window
// is data of the chain.
func TestOwnersAgreeAtTheEdgeOfTheWindow(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	clock := rig.FakeClocks(t, db)
	next := int64(0)
	copyOf := func(skew time.Duration) idem.Result {
		t.Helper()
		clock.Skew.Store(int64(skew))
		w := rig.Own(t, rig.InChain(time.Hour, rig.WithClock(clock.Now)).Consumer(t, db))
		next = w.Next() + 1
		return rig.Apply(t, w, rig.Records(w.Next(), "@a: put 1 1"))
	}
	const late, early = 4 * time.Minute, -4 * time.Minute
	rig.Want(t, "first", copyOf(late), idem.Result{Applied: 1})
	clock.Pass(t, 58*time.Minute)
	rig.Want(t, "inside, the clock is fast", copyOf(late), idem.Result{Duplicates: 1})
	rig.Want(t, "inside, the clock is slow", copyOf(early), idem.Result{Duplicates: 1})
	clock.Pass(t, 3*time.Minute)
	rig.Want(t, "outside, the clock is slow", copyOf(early), idem.Result{Applied: 1})
	rig.Want(t, "its copy", copyOf(late), idem.Result{Duplicates: 1})
	rig.Want(t, "position", rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`), fmt.Sprint(next))
}

// While the clocks are far apart nothing expires, and the log says so, and when it is over.
func TestWindowStandsWhileClocksDisagree(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-6 * time.Minute, 24 * time.Hour} {
		t.Run(skew.String(), func(t *testing.T) {
			db := rig.Database(t)
			clock := rig.FakeClocks(t, db)
			log := &transcript.Buffer{}
			c := rig.InChain(time.Hour, rig.WithClock(clock.Now), idem.WithLogger(slog.New(slog.NewTextHandler(log, nil)))).Consumer(t, db)
			w := rig.Own(t, c)
			rig.Apply(t, w, rig.Records(0, "@a: put 1 1"))
			clock.Skew.Store(int64(skew))
			clock.Pass(t, 2*time.Hour)
			move(t, w)
			rig.Want(t, "live", rig.Apply(t, w, rig.Records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
			w = rig.Own(t, c)
			rig.Want(t, "taken over", rig.Apply(t, w, rig.Records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
			if !strings.Contains(log.String(), "clocks of the database and this process differ") {
				t.Errorf("no alarm: %s", log)
			}
			clock.Skew.Store(0)
			move(t, w)
			rig.Want(t, "agreed", rig.Apply(t, w, rig.Records(w.Next(), "@a: put 1 1")), idem.Result{Applied: 1})
			if !strings.Contains(log.String(), "clocks of the database and this process agree again") {
				t.Errorf("the alarm does not end: %s", log)
			}
		})
	}
}

// The database's clock is two hours behind while a key, a dead letter and the outcome of an effect
// are written. Once it is set right, they are as old as they are.
func TestClockThatIsSetRightMakesNothingOld(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	clock := rig.FakeClocks(t, db)
	clock.Database(t, -2*time.Hour)
	var p rig.Provider
	s := p.Service(rig.Terms)
	s.Policy = rig.Impatient
	s.Policy.Keep = time.Hour
	s.Options = append(s.Options, rig.WithClock(clock.Now))
	s.Edit = func(s *wire.Service) { s.Topics[0].Chain = time.Hour }
	c := s.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Want(t, "first", rig.Apply(t, w, rig.Records(0, "@a: put 1 1", "call x", "e: effect 3")), idem.Result{Applied: 2, Dead: 1})
	clock.Database(t, 0)
	move(t, w)
	rig.Do(t, func() error { return c.Upkeep(t.Context()) })
	rig.Want(t, "a copy", rig.Apply(t, w, rig.Records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
	w = rig.Own(t, s.Consumer(t, db))
	rig.Want(t, "a copy after a restart", rig.Apply(t, w, rig.Records(w.Next(), "@a: put 1 1")), idem.Result{Duplicates: 1})
	rig.Want(t, "letters", rig.Query(t, db, `SELECT string_agg(state::text || ' ' || (now() - created_at < '1 minute'), ', ') FROM idem_dead_letter`), "d true")
	rig.Want(t, "outcomes kept for their time", rig.Query(t, db, `SELECT bool_and(forget_at > now() + keep - interval '1 minute')::text FROM idem_lease`), "true")
}

// A partition that was paused, or is behind, forgets no key whose copy may be among the records
// that it has not read, however much time has passed; nor does the next owner. Clocks that jump
// ahead together forget none either: the records' own times do not follow.
func TestWindowIsOfWhatWasRead(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	clock := rig.FakeClocks(t, db)
	s := rig.InChain(time.Hour, rig.WithClock(clock.Now))
	at := int64(0)
	result := func(sink idem.Sink, c *rig.Consumer, texts ...string) string {
		t.Helper()
		before := c.Stats()
		msgs := rig.Records(at, texts...)
		for i := range msgs {
			msgs[i].Time = clock.Now()
		}
		at += int64(len(msgs))
		rig.Deliver(t, sink, msgs)
		now := c.Stats()
		return fmt.Sprint(now.Applied-before.Applied, " applied, ", now.Resent-before.Resent, " resent")
	}
	readAll := func(sink idem.Sink) { sink.End(rig.First, at, time.Now()) }

	c := s.Consumer(t, db)
	sink, end := rig.DriveUntil(t, c)
	rig.Assign(t, sink, 0)
	rig.Want(t, "first", result(sink, c, "@a: put 1 1"), "1 applied, 0 resent")
	sink.End(rig.First, at, time.Now().Add(-3*time.Hour)) // the clock that passes is not that of this machine
	result(sink, c, "put 9 9")
	clock.Pass(t, 3*time.Hour)
	sink.End(rig.First, at+4, time.Now()) // four records were appended meanwhile
	for range 2 {                         // the first batch learns the time
		rig.Want(t, "behind", result(sink, c, "put 9 9"), "1 applied, 0 resent")
	}
	rig.Want(t, "a copy among them", result(sink, c, "@a: put 1 1"), "0 applied, 1 resent")
	end()
	c.Close()

	c = s.Consumer(t, db)
	sink, end = rig.DriveUntil(t, c)
	rig.Assign(t, sink, at)
	rig.Want(t, "a copy among the records that waited", result(sink, c, "@a: put 1 1"), "0 applied, 1 resent")
	readAll(sink)
	result(sink, c, "put 9 9")
	result(sink, c, "put 9 9")
	rig.Want(t, "a copy after them", result(sink, c, "@a: put 1 1"), "1 applied, 0 resent")
	readAll(sink)

	before := clock.Now()
	clock.Pass(t, 240*time.Hour) // a jump of both clocks: the records' times do not follow
	msgs := rig.Records(at, "put 9 9", "put 9 9", "@a: put 1 1")
	resent := c.Stats().Resent
	for i := range msgs {
		at++
		msgs[i].Time = before
		rig.Deliver(t, sink, msgs[i:i+1])
		readAll(sink)
	}
	rig.Want(t, "a copy after the jump", c.Stats().Resent, resent+1)
	end()
}

// A clock that goes back, or a longer window, moves no window backward.
func TestWindowNeverMovesBackward(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	clock := rig.FakeClocks(t, db)
	w := rig.Own(t, rig.InChain(time.Hour, rig.WithClock(clock.Now)).Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "@a: put 1 1"))
	clock.Pass(t, 2*time.Hour)
	move(t, w)
	clock.Pass(t, -2*time.Hour)
	rig.Want(t, "the clock went back", rig.Apply(t, w, rig.Records(w.Next(), "@a: put 1 1")), idem.Result{Applied: 1})
	w = rig.Own(t, rig.InChain(10*time.Hour, rig.WithClock(clock.Now)).Consumer(t, db))
	rig.Apply(t, w, rig.Records(w.Next(), "put 9 9"))
	rig.Want(t, "rows that go back", rig.Query(t, db, `SELECT count(*)::text FROM idem_ledger a JOIN idem_ledger b ON b.seq = a.seq + 1 AND b.window_seq < a.window_seq`), "0")
}

// A take-over measures a part of a long chain. If all of that is old, the window moves so far.
func TestWindowOfALongChain(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	rig.Own(t, rig.InChain(time.Hour).Consumer(t, db))
	const rows = 30_000
	idemtest.Exec(t, db, `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at, keys)
SELECT 1, n + 1, gen_random_uuid(), n - 1, n, 'b', -1, 1, 1, 0, clock_timestamp() - interval '2 hours', decode(md5(n::text), 'hex') || '\x00000007' FROM generate_series(1, $1::int) n`, rows)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET written_at = written_at - interval '2 hours' WHERE seq < 2`)
	w := rig.Own(t, rig.InChain(time.Hour).Consumer(t, db))
	rig.Want(t, "keys", w.Keys(), rows+2-20_000)
	move(t, w)
	rig.Want(t, "keys later", w.Keys(), 0)
}

const smallMemory = 40 * 27

// keysAt makes n records with keys of their own.
func keysAt(from int64, n int) []idem.Message {
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("@k%d: put %d 1", from+int64(i), i))
	}
	return rig.Records(from, texts...)
}

// A full memory pauses the partition, with an alarm. Nothing is forgotten or given up, whatever
// the clock says: the records that wait may be copies. A process with more memory applies them.
func TestFullKeyMemoryPausesThePartition(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	clock := rig.FakeClocks(t, db)
	log := &transcript.Buffer{}
	small := rig.InChain(time.Hour, rig.WithClock(clock.Now), idem.WithKeyMemory(smallMemory), idem.WithLogger(slog.New(slog.NewTextHandler(log, nil)))).Consumer(t, db)
	sink, end := rig.DriveUntil(t, small)
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, keysAt(0, 25))
	rig.Deliver(t, sink, rig.Records(25, "@k0: put 0 1"))
	delivered := make(chan error, 1)
	go func() { delivered <- sink.Deliver(t.Context(), rig.First, keysAt(26, 25)) }()
	rig.WaitFor(t, "the alarm", func() bool { return small.Health().Err() != nil })
	if err := small.Health().Err(); !strings.Contains(err.Error(), "memory for keys is full") {
		t.Errorf("health: %v", err)
	}
	if !strings.Contains(log.String(), "memory for keys is full") {
		t.Error("no line in the log")
	}
	clock.Pass(t, 2*time.Hour)
	waits := small.Stats().Waits
	rig.WaitFor(t, "another try", func() bool { return small.Stats().Waits > waits+1 })
	stopped := small.Stats().Applied
	sink.Revoked(rig.First)
	<-delivered
	end()
	rig.Want(t, "memory of a partition given up", small.KeyMemoryUsed(), 0)

	c := rig.InChain(time.Hour, rig.WithClock(clock.Now)).Consumer(t, db)
	src := rig.NewSource(keysAt(26, 25))
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	s, more := small.Stats(), c.Stats()
	rig.Want(t, "applied, resent, dead", fmt.Sprint(stopped+more.Applied, s.Resent, s.Dead+more.Dead), "50 1 0")
	rig.Want(t, "position", rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`), "51")
}

// A partition whose keys do not fit is not taken over, nor is its owner fenced for that.
func TestFullKeyMemoryTakesNoPartitionOver(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	clock := rig.FakeClocks(t, db)
	old := rig.Own(t, rig.InChain(time.Hour, rig.WithClock(clock.Now)).Consumer(t, db))
	rig.Apply(t, old, keysAt(0, 50))
	c := rig.InChain(time.Hour, rig.WithClock(clock.Now), idem.WithKeyMemory(smallMemory)).Consumer(t, db)
	for range 3 {
		_, err := c.Own(t.Context(), rig.Topic, 0, 0)
		if err == nil || !strings.Contains(err.Error(), "memory for keys is full") {
			t.Fatalf("got %v", err)
		}
	}
	rig.Want(t, "memory that nobody uses", c.KeyMemoryUsed(), 0)
	rig.Apply(t, old, keysAt(50, 1))
	clock.Pass(t, 2*time.Hour)
	w := rig.Own(t, c)
	rig.Want(t, "keys", w.Keys(), 0)
	_, err := old.Apply(t.Context(), keysAt(51, 1))
	rig.WantError[*idem.FencedError](t, err)
}

// What a fenced owner remembered no longer counts.
func TestFencedOwnerFreesItsMemory(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.InChain(time.Hour).Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), keysAt(0, 50))
	used := c.KeyMemoryUsed()
	if used < 50*20 {
		t.Errorf("%d bytes for 50 keys", used)
	}
	old := rig.Own(t, c) // the same partition in the same process: its keys count once
	rig.Want(t, "used after a second load", c.KeyMemoryUsed(), used)
	ownChain(t, db)
	_, err := old.Apply(t.Context(), keysAt(50, 1))
	rig.WantError[*idem.FencedError](t, err)
	rig.Want(t, "used", c.KeyMemoryUsed(), 0)
}
