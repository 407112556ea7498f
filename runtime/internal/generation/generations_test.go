package generation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A list has the generations of one consumer, the open one last, and the connection keeps it
// until it cannot be read.
func TestListIsReadAndKept(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 0)
	if l, ok := generation.Listed(s.conn); ok {
		t.Errorf("before it was read: %v", l)
	}
	rig.Do(t, func() error { return generation.First(t.Context(), s.conn, "b", time.Hour) }) // in table 2
	s.seal()
	s.seal()
	l := s.list()
	rig.Want(t, "numbers", fmt.Sprint(l.Numbers()), "[1 3 4]")
	kept, ok := generation.Listed(s.conn)
	rig.Want(t, "the list is kept", ok && slices.Equal(kept, l), true)
	tokens := map[wire.UUID]bool{}
	for i, g := range l {
		rig.Want(t, "open", g.Open, i == 2)
		rig.Want(t, "the seal is another than the token", g.Seal != g.Token, !g.Open)
		tokens[g.Token], tokens[g.Seal] = true, true
	}
	rig.Want(t, "tokens and seals", len(tokens), 5)
	open, ok := l.Open()
	rig.Want(t, "open", open, l[2])
	rig.Want(t, "open", ok, true)
	for _, without := range []generation.List{nil, l[:2]} {
		if g, ok := without.Open(); ok || g != (generation.Generation{}) {
			t.Errorf("in %v, %v is open", without, g)
		}
	}
	rig.Want(t, "numbers of none", len(generation.List(nil).Numbers()), 0)
	idemtest.Exec(t, s.db, `ALTER TABLE idem_key_gen RENAME TO gone`)
	if l, err := generation.Read(t.Context(), s.conn, "a"); err == nil || l != nil {
		t.Errorf("without the table: %v, %v", l, err)
	}
	if l, ok := generation.Listed(s.conn); ok {
		t.Errorf("what could not be read again is kept: %v", l)
	}
}

// A list is fit if every generation has a table that takes its keys, or has them.
func TestListSaysWhichTableIsUnfit(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 0)
	s.seal()
	rig.Do(t, func() error { return s.list().Fits() })
	for _, test := range []struct{ breaks, mends, text string }{
		{`ALTER TABLE idem_keys DETACH PARTITION idem_keys_1`, `ALTER TABLE idem_keys ATTACH PARTITION idem_keys_1 FOR VALUES IN (1)`,
			"idem_key_gen has generation 1 of keys, but idem_keys_1 is missing, or is not a partition of idem_keys; make it, as the role that owns idem_keys, and restore " +
				"its rows from the backup: CREATE TABLE idem_keys_1 PARTITION OF idem_keys (PRIMARY KEY (key)) FOR VALUES IN (1); ALTER TABLE idem_keys_1 REPLICA IDENTITY FULL"},
		{`ALTER TABLE idem_keys_2 DROP CONSTRAINT idem_keys_2_pkey`, `ALTER TABLE idem_keys_2 ADD PRIMARY KEY (key)`,
			"idem_keys_2 lacks its primary key; make it: ALTER TABLE idem_keys_2 ADD PRIMARY KEY (key)"},
		{`CREATE TRIGGER idem_keys_sealed BEFORE INSERT ON idem_keys_2 FOR EACH ROW EXECUTE FUNCTION idem_keys_sealed()`, `DROP TRIGGER idem_keys_sealed ON idem_keys_2`,
			"generation 2 of keys is open in idem_key_gen, but its table idem_keys_2 is sealed: restore idem_key_gen and all tables of keys from one backup"},
	} {
		idemtest.Exec(t, s.db, test.breaks)
		rig.Want(t, test.breaks, rig.WantError[*generation.UnfitError](t, s.list().Fits()).Error(), test.text)
		idemtest.Exec(t, s.db, test.mends)
		rig.Do(t, func() error { return s.list().Fits() })
	}
}

// Keys are found in the generations that are asked, with what was stored of them.
func TestKnownKeysAreFound(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 0)
	k := numbered(1, 2, 3)
	idemtest.Exec(t, s.db, `INSERT INTO idem_stream (stream, consumer, topic, topic_id, partition) OVERRIDING SYSTEM VALUE
VALUES (3, 'a', 'orders', gen_random_uuid(), 7)`)
	s.seal(k[0])
	s.seal(k[1])
	idemtest.Exec(t, s.db, `UPDATE idem_keys SET stream = 9, fp = -1 WHERE gen = 2`)
	first := generation.Hit{Key: k[0], Number: 1, Prior: wire.Prior{Def: 1, Print: 2}, Stream: 3, Seq: 4, Place: "orders/7"}
	second := generation.Hit{Key: k[1], Number: 2, Prior: wire.Prior{Def: 1, Print: 1<<32 - 1}, Stream: 9, Seq: 4}
	for _, test := range []struct {
		numbers []int32
		want    []generation.Hit
	}{
		{[]int32{1, 2, 3}, []generation.Hit{first, second}},
		{[]int32{2}, []generation.Hit{second}},
		{nil, nil},
	} {
		hits, err := generation.Known(t.Context(), s.conn, test.numbers, k)
		if err != nil || !slices.Equal(hits, test.want) {
			t.Errorf("in %v: %v, %v; want %v", test.numbers, hits, err, test.want)
		}
	}
	if hits, err := generation.Known(t.Context(), s.conn, []int32{1, 2}, k[2:]); err != nil || len(hits) > 0 {
		t.Errorf("a key that was not claimed: %v, %v", hits, err)
	}
	idemtest.Exec(t, s.db, `ALTER TABLE idem_stream RENAME TO gone`)
	if _, err := generation.Known(t.Context(), s.conn, []int32{1}, k); err == nil {
		t.Error("without a table: no error")
	}
	if hits, err := generation.Known(t.Context(), s.conn, nil, k); err != nil || len(hits) > 0 {
		t.Errorf("after an error: %v, %v", hits, err)
	}
}

// The first generation is opened once, with the time that its keys are kept.
func TestFirstGenerationIsOpenedOnce(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 0)
	rig.Do(t, func() error { return generation.First(t.Context(), s.conn, "a", 2*time.Hour) })
	rig.Want(t, "generations", fmt.Sprint(s.list().Numbers()), "[1]")
	rig.Want(t, "keep", rig.Query(t, s.db, `SELECT string_agg(keep::text, ' ') FROM idem_key_gen`), "01:00:00")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := generation.First(ctx, s.conn, "b", time.Hour); err == nil {
		t.Error("without an answer: no error")
	}
}

// A generation is due for its seal when it is old and has keys, and its keys have expired when
// every partition has been read past the time for which they are kept.
func TestGenerationsGrowOld(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 0)
	now := time.Now()
	due := func(age time.Duration, number int32, want bool) {
		t.Helper()
		open, got, err := generation.Due(t.Context(), s.conn, "a", age)
		if err != nil || open != number || got != want {
			t.Errorf("older than %v: %d %v, %v; want %d %v", age, open, got, err, number, want)
		}
	}
	expired := func(read time.Time, keep, transaction time.Duration, want ...int32) {
		t.Helper()
		got, err := generation.Expired(t.Context(), s.conn, "a", generation.Progress{Until: read}, keep, transaction)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("read until %v, kept for %v + %v: %v, %v; want %v", read.Sub(now), keep, transaction, got, err, want)
		}
	}
	overdue := func(keep, transaction time.Duration, want bool) {
		t.Helper()
		got, err := generation.Overdue(t.Context(), s.conn, "a", keep, transaction)
		if err != nil || got != want {
			t.Errorf("kept for %v + %v: %v, %v; want %v", keep, transaction, got, err, want)
		}
	}
	due(0, 1, false) // it has no keys
	idemtest.Exec(t, s.db, `INSERT INTO idem_keys VALUES (1, gen_random_uuid(), 1, 2, 3, 4)`)
	due(0, 1, true)
	due(time.Hour, 1, false)
	s.seal()
	s.seal()
	due(0, 3, false)
	idemtest.Exec(t, s.db, `UPDATE idem_key_gen SET sealed_at = sealed_at - interval '3 hours' WHERE gen = 1`)
	idemtest.Exec(t, s.db, `UPDATE idem_key_gen SET sealed_at = sealed_at - interval '2 hours' WHERE gen = 2`)
	expired(now, time.Hour, 30*time.Minute, 1, 2)
	expired(now, 150*time.Minute, 10*time.Minute, 1)
	expired(now, time.Minute, 90*time.Minute, 1) // each is kept for an hour
	expired(now.Add(-time.Hour), time.Hour, 30*time.Minute, 1)
	expired(time.Time{}, 0, 0)
	overdue(time.Hour, 110*time.Minute, true)
	overdue(time.Minute, 150*time.Minute, false)
	overdue(175*time.Minute, 0, true)
	overdue(4*time.Hour, 0, false)
	idemtest.Exec(t, s.db, `UPDATE idem_key_gen SET consumer = 'b'`)
	expired(now, 0, 0)
	overdue(0, 0, false)
	if _, _, err := generation.Due(t.Context(), s.conn, "a", 0); err == nil {
		t.Error("due without an open generation: no error")
	}
	idemtest.Exec(t, s.db, `ALTER TABLE idem_key_gen RENAME TO gone`)
	_, err := generation.Expired(t.Context(), s.conn, "a", generation.Progress{}, 0, 0)
	_, other := generation.Overdue(t.Context(), s.conn, "a", 0, 0)
	_, third := generation.Uncounted(t.Context(), s.conn, "a")
	if err == nil || other == nil || third == nil {
		t.Errorf("without the table: %v, %v, %v", err, other, third)
	}
}

// Sealed generations are counted once.
func TestUncountedGenerationsAreSealed(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 0)
	uncounted := func(consumer, want string) {
		t.Helper()
		got, err := generation.Uncounted(t.Context(), s.conn, consumer)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("of %s: %v, %v; want %s", consumer, got, err, want)
		}
	}
	s.seal()
	s.seal(numbered(1)...)
	uncounted("a", "[]")
	idemtest.Exec(t, s.db, `UPDATE idem_key_gen SET keys = NULL`)
	uncounted("a", "[1 2]")
	uncounted("b", "[]")
	rig.Do(t, func() error { return generation.Count(t.Context(), s.conn, "a", 2) })
	uncounted("a", "[1]")
	if err := generation.Count(t.Context(), s.conn, "a", 3); err == nil {
		t.Error("the open generation is counted")
	}
}

// Drop says what it has dropped before it failed.
func TestDropEndsAtTheFirstError(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 0)
	s.seal(numbered(1)...)
	s.seal(numbered(2)...)
	idemtest.Exec(t, s.db, `UPDATE idem_key_gen SET sealed_at = sealed_at - interval '2 hours'`)
	dropped, err := generation.Drop(t.Context(), s.conn, "a", []int32{1, 3, 2}, 0) // 3 is open
	rig.Want(t, "dropped", fmt.Sprint(dropped), "[1]")
	rig.WantText(t, err, "3")
	rig.Want(t, "generations", fmt.Sprint(s.list().Numbers()), "[2 3]")
	crash := errors.New("crash")
	ctx := fault.With(t.Context(), func(step string) error {
		rig.Want(t, "step", step, fault.Dropped)
		return crash
	})
	dropped, err = generation.Drop(ctx, s.conn, "a", []int32{2, 3}, 0)
	rig.Want(t, "dropped", fmt.Sprint(dropped), "[2]")
	rig.Want(t, "error", err, crash)
}

// A seal that waits for a claim in flight gives up its lock soon, and is tried again until the
// context ends.
func TestSealIsTriedAgainUntilTheContextEnds(t *testing.T) {
	t.Parallel()
	s := newShelf(t, 0)
	tx, err := s.db.Begin(t.Context())
	rig.Do(t, func() error { return err })
	defer tx.Rollback(context.Background())
	_, err = tx.Exec(t.Context(), `INSERT INTO idem_keys VALUES (1, gen_random_uuid(), 1, 2, 3, 4)`)
	rig.Do(t, func() error { return err })
	next, err := generation.Prepare(t.Context(), s.conn)
	rig.Do(t, func() error { return err })
	rig.Want(t, "next", next, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	conn := s.dial()
	defer conn.Close(context.Background())
	go func() { done <- generation.Rotate(ctx, conn, "a", 1, next, time.Hour, time.Minute) }()
	waiting := func(want string) {
		t.Helper()
		rig.Within(t, "seals that wait: "+want, func() bool {
			return rig.Query(t, s.db, `SELECT count(*)::text FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == want
		})
	}
	waiting("1")
	waiting("0")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	rig.Want(t, "generations", fmt.Sprint(s.list().Numbers()), "[1]")
	rig.Do(t, func() error { return tx.Rollback(context.Background()) })
	rig.Do(t, func() error {
		return generation.Rotate(t.Context(), s.conn, "a", 1, next, 2*time.Hour, time.Minute)
	})
	rig.Want(t, "generations", fmt.Sprint(s.list().Numbers()), "[1 2]")
	rig.Want(t, "keep", rig.Query(t, s.db, `SELECT keep::text FROM idem_key_gen WHERE sealed_at IS NULL`), "02:00:00")
}
