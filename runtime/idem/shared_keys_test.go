package idem_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// rotate seals the open generation as if half a window had passed.
func rotate(t testing.TB, db *pgxpool.Pool, c *idem.Consumer) {
	t.Helper()
	idemtest.Exec(t, db, `UPDATE idem_key_gen SET opened_at = opened_at - interval '31 minutes' WHERE sealed_at IS NULL`)
	const sealed = `SELECT count(sealed_at)::text FROM idem_key_gen`
	before := query(t, db, sealed)
	for end := time.Now().Add(20 * time.Second); query(t, db, sealed) == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the open generation was not sealed")
		}
		// It does nothing while the connection of an earlier run is still on its way out.
		if err := c.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func ownPartition(t testing.TB, c *idem.Consumer, partition int32) *idem.Writer {
	t.Helper()
	w, err := c.Own(t.Context(), topic, partition, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// logged returns an option that logs into the buffer.
func logged() (*transcript.Buffer, idem.Option) {
	b := &transcript.Buffer{}
	return b, idem.WithLogger(slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// await waits until the log has a line with the text n times.
func await(t testing.TB, log *transcript.Buffer, text string, n int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); strings.Count(log.String(), text) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log does not say %q %d times:\n%s", text, n, log)
		}
	}
}

// once runs do when the step is first reached, and then goes on.
func once(ctx context.Context, step string, do func()) context.Context {
	done := false
	return fault.With(ctx, func(at string) error {
		if at == step && !done {
			done = true
			do()
		}
		return nil
	})
}

// Bug: only the newest generation is read. Keys of sealed generations are looked
// up in filters, or without.
func TestKeyIsKnownInEveryGeneration(t *testing.T) {
	t.Parallel()
	for _, filters := range []bool{false, true} {
		t.Run(fmt.Sprintf("filters %v", filters), func(t *testing.T) {
			db := database(t)
			log, option := logged()
			c := service{options: []idem.Option{option}}.consumer(t, db)
			w := own(t, c)
			apply(t, w, records(0, "a: put 1 1"))
			rotate(t, db, c)
			apply(t, w, records(1, "b: put 2 2"))
			rotate(t, db, c)
			apply(t, w, records(2, "c: put 3 3"))
			other := c
			if filters {
				await(t, log, "filter of sealed keys built", 2)
			} else {
				other = service{}.consumer(t, db)
				other.LimitFilters(0)
			}
			copies := ownPartition(t, other, 1)
			got := apply(t, copies, records(0, "d: put 4 4", "a: put 1 1", "b: put 2 2", "b: put 2 9"))
			want(t, "sealed", got, idem.Result{Applied: 1, Duplicates: 2, Conflicts: 1})
			want(t, "open", apply(t, copies, records(4, "c: put 3 3")), idem.Result{Duplicates: 1})
		})
	}
}

// Bugs: rotation without a seal; a claim after the seal without reading again.
// The generation is sealed after a batch read the known keys and before it claims its own,
// and another partition claims the same key before or after that.
func TestKeyClaimedAroundASealIsADuplicate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"before the seal", "after the seal"} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			c := service{}.consumer(t, db)
			w := own(t, c)
			apply(t, w, records(0, "w: put 9 9"))
			rival := ownPartition(t, service{}.consumer(t, db), 1)
			ctx := once(t.Context(), fault.BeforeClaim, func() {
				if name == "after the seal" {
					rotate(t, db, c)
				}
				apply(t, rival, records(0, "k: put 1 1"))
				if name == "before the seal" {
					rotate(t, db, c)
				}
			})
			res, err := w.Apply(ctx, records(1, "k: put 1 1"))
			if err != nil {
				t.Fatal(err)
			}
			want(t, "result", res, idem.Result{Duplicates: 1})
			want(t, "copies of the key", query(t, db, `SELECT count(*)::text FROM idem_keys`), "2")
			want(t, "races", c.Stats().KeyRaces, 1)
		})
	}
}

// Bug: the next generation is listed before the seal of its predecessor. A claim
// is in flight while the generation is rotated, and a copy comes in.
func TestRotationWaitsForClaimsInFlight(t *testing.T) {
	lengthy(t)
	db := database(t)
	started, release := make(chan struct{}), make(chan struct{})
	c := service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `INSERT INTO t (id, v) VALUES ($1, 1)`, row)
		close(started)
		<-release
		return err
	}}.consumer(t, db)
	w, rival := own(t, c), ownPartition(t, service{}.consumer(t, db), 1)
	apply(t, w, records(0, "w: put 9 9"))
	done := make(chan error, 3)
	go func() {
		_, err := w.Apply(context.WithoutCancel(t.Context()), records(1, "k: call 1"))
		done <- err
	}()
	<-started
	idemtest.Exec(t, db, `UPDATE idem_key_gen SET opened_at = opened_at - interval '31 minutes'`)
	go func() { done <- c.Upkeep(context.WithoutCancel(t.Context())) }()
	// The copy comes when the seal waits; if it does not, when the next generation is listed.
	eventually(t, db, "true", `SELECT (EXISTS (SELECT FROM pg_locks JOIN pg_database d ON d.oid = database WHERE datname = current_database() AND relation = 'idem_keys_1'::regclass AND NOT granted) OR (SELECT count(*) = 2 FROM idem_key_gen))::text`)
	copies := make(chan idem.Result, 1)
	go func() {
		res, err := rival.Apply(context.WithoutCancel(t.Context()), records(0, "k: put 1 1"))
		copies <- res
		done <- err
	}()
	const waiting = `SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database() AND wait_event = 'transactionid'`
	for end := time.Now().Add(10 * time.Second); query(t, db, waiting) == "0" && len(copies) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the copy neither waits nor ends")
		}
	}
	close(release)
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	want(t, "copy", <-copies, idem.Result{Conflicts: 1}) // the plan's prints differ: put 1 1, call 1
	want(t, "rows", table(t, db), "1=1 9=9")
	want(t, "generations", query(t, db, `SELECT count(*)::text FROM idem_key_gen`), "2")
}

// The bug, for keys that all partitions share: they are remembered when they are sent.
func TestFailedBatchLeavesNoRecentKeys(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	want(t, "result", apply(t, w, records(0, "a: put 1 1", "b: put 2 5000", "c: put 3 3")), idem.Result{Applied: 2, Dead: 1})
	want(t, "rows", table(t, db), "1=1 3=3")
	want(t, "the dead letter's key", apply(t, w, records(3, "b: put 2 2")), idem.Result{Applied: 1})
}

// An own key that was claimed longer ago than the window is no longer remembered.
func TestOwnRecentKeysEndWithTheWindow(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{edit: window(50 * time.Millisecond)}.consumer(t, db)
	w := own(t, c)
	apply(t, w, records(0, "a: put 1 1"))
	idemtest.Exec(t, db, `DELETE FROM idem_keys`) // as if its generation had been dropped
	time.Sleep(60 * time.Millisecond)             // the window
	want(t, "result", apply(t, w, records(1, "a: put 1 2")), idem.Result{Applied: 1})
}

// A batch that claims nothing known takes one round trip also when generations are sealed,
// and copies of own keys need no read.
func TestBatchWithoutSuspectsReadsNoKeys(t *testing.T) {
	t.Parallel()
	var g gate
	db := database(t)
	log, option := logged()
	c := service{options: []idem.Option{option}}.consumer(t, through(t, db, &g))
	w := own(t, c)
	apply(t, w, records(0, "a: put 1 1"))
	rotate(t, db, c)
	apply(t, w, records(1, "b: put 2 2")) // meets the seal, reads the list
	await(t, log, "filter of sealed keys built", 1)
	before := g.trips.Load()
	want(t, "result", apply(t, w, records(2, "c: put 3 3", "b: put 2 2", "a: put 1 1")), idem.Result{Applied: 1, Duplicates: 2})
	want(t, "round trips", g.trips.Load()-before, 1)
}

// Without memory for a filter the database is asked, and the log says so.
func TestFiltersAboveTheLimitAreDoneWithout(t *testing.T) {
	t.Parallel()
	db := database(t)
	log, option := logged()
	c := service{options: []idem.Option{option}}.consumer(t, db)
	c.LimitFilters(7) // less than one word
	w := own(t, c)
	apply(t, w, records(0, "a: put 1 1"))
	rotate(t, db, c)
	apply(t, w, records(1, "b: put 2 2"))
	await(t, log, "no memory for a filter of sealed keys", 1)
	want(t, "copy", apply(t, ownPartition(t, c, 1), records(0, "a: put 1 1")), idem.Result{Duplicates: 1})
}

// The open generation is read first once races are frequent, and no longer when they are
// not.
func TestOpenGenerationIsReadWhileRacesAreFrequent(t *testing.T) {
	t.Parallel()
	db := database(t)
	rival := ownPartition(t, service{}.consumer(t, db), 1)
	c := service{}.consumer(t, db)
	w := own(t, c)
	races := func() int64 { return c.Stats().KeyRaces }
	next := int64(0)
	batch := func(key string) {
		apply(t, w, records(next, key+": put 1 1"))
		next++
	}
	for i := range 10 {
		apply(t, rival, records(int64(i), string(rune('a'+i))+": put 1 1"))
	}
	for i := range 10 {
		batch(string(rune('a' + i)))
	}
	want(t, "races of ten batches", races(), 3)
	want(t, "duplicates", c.Stats().Resent, 10)
}

// A key's time and place come from no record: a copy with another time is a duplicate, in
// whatever generation.
func TestRecordsTimeDoesNotChooseWhereKeysAreUnique(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	w := own(t, c)
	msgs := records(0, "a: put 1 1", "a: put 1 1", "a: put 1 1")
	msgs[0].Time, msgs[1].Time = time.Now(), time.Now().AddDate(-1, 0, 0)
	apply(t, w, msgs[:1])
	rotate(t, db, c)
	want(t, "copies", apply(t, ownPartition(t, c, 1), msgs), idem.Result{Duplicates: 3})
	want(t, "columns with a time", query(t, db, `SELECT count(*)::text FROM information_schema.columns WHERE table_name LIKE 'idem_keys%' AND data_type LIKE 'time%'`), "0")
}
