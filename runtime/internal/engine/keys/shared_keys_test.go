package keys_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// Bug: only the newest generation is read. Keys of sealed generations are looked
// up in filters, or without.
func TestKeyIsKnownInEveryGeneration(t *testing.T) {
	t.Parallel()
	for _, filters := range []bool{false, true} {
		t.Run(fmt.Sprintf("filters %v", filters), func(t *testing.T) {
			db := rig.Database(t)
			log, option := rig.Logged()
			c := rig.Service{Options: []idem.Option{option}}.Consumer(t, db)
			w := rig.Own(t, c)
			rig.Apply(t, w, rig.Records(0, "a: put 1 1"))
			rig.Rotate(t, db, c)
			rig.Apply(t, w, rig.Records(1, "b: put 2 2"))
			rig.Rotate(t, db, c)
			rig.Apply(t, w, rig.Records(2, "c: put 3 3"))
			other := c
			if filters {
				rig.Await(t, log, "filter of sealed keys built", 2)
			} else {
				other = rig.Service{}.Consumer(t, db)
				other.LimitFilters(0)
			}
			copies := rig.OwnPartition(t, other, 1)
			got := rig.Apply(t, copies, rig.Records(0, "d: put 4 4", "a: put 1 1", "b: put 2 2", "b: put 2 9"))
			rig.Want(t, "sealed", got, idem.Result{Applied: 1, Duplicates: 2, Conflicts: 1})
			rig.Want(t, "open", rig.Apply(t, copies, rig.Records(4, "c: put 3 3")), idem.Result{Duplicates: 1})
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
			db := rig.Database(t)
			c := rig.Service{}.Consumer(t, db)
			w := rig.Own(t, c)
			rig.Apply(t, w, rig.Records(0, "w: put 9 9"))
			rival := rig.OwnPartition(t, rig.Service{}.Consumer(t, db), 1)
			ctx := rig.Once(t.Context(), fault.BeforeClaim, func() {
				if name == "after the seal" {
					rig.Rotate(t, db, c)
					rival = rig.OwnPartition(t, rig.Service{}.Consumer(t, db), 1) // which has read no list before
				}
				rig.Apply(t, rival, rig.Records(0, "k: put 1 1"))
				if name == "before the seal" {
					rig.Rotate(t, db, c)
				}
			})
			res, err := w.Apply(ctx, rig.Records(1, "k: put 1 1"))
			if err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "result", res, idem.Result{Duplicates: 1})
			rig.Want(t, "copies of the key", rig.Query(t, db, `SELECT count(*)::text FROM idem_keys`), "2")
			rig.Want(t, "races", c.Stats().KeyRaces, 1)
		})
	}
}

// Bug: the next generation is listed before the seal of its predecessor. A claim
// is in flight while the generation is rotated, and a copy comes in.
func TestRotationWaitsForClaimsInFlight(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	started, release := make(chan struct{}), make(chan struct{})
	c := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `INSERT INTO t (id, v) VALUES ($1, 1)`, row)
		close(started)
		<-release
		return err
	}}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "w: put 9 9"))
	done := make(chan error, 3)
	go func() {
		_, err := w.Apply(context.WithoutCancel(t.Context()), rig.Records(1, "k: call 1"))
		done <- err
	}()
	<-started
	idemtest.Exec(t, db, `UPDATE idem_key_gen SET opened_at = opened_at - interval '31 minutes'`)
	go func() { done <- c.Upkeep(context.WithoutCancel(t.Context())) }()
	// The copy comes when the seal waits; if it does not, when the next generation is listed.
	rig.Eventually(t, db, "true", `SELECT (EXISTS (SELECT FROM pg_locks JOIN pg_database d ON d.oid = database WHERE datname = current_database() AND relation = 'idem_keys_1'::regclass AND NOT granted) OR (SELECT count(*) = 2 FROM idem_key_gen))::text`)
	rival := rig.OwnPartition(t, rig.Service{}.Consumer(t, db), 1) // which has read no list before
	copies := make(chan idem.Result, 1)
	go func() {
		res, err := rival.Apply(context.WithoutCancel(t.Context()), rig.Records(0, "k: put 1 1"))
		copies <- res
		done <- err
	}()
	const waiting = `SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database() AND wait_event = 'transactionid'`
	for end := time.Now().Add(time.Minute); rig.Query(t, db, waiting) == "0" && len(copies) == 0; time.Sleep(5 * time.Millisecond) {
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
	rig.Want(t, "copy", <-copies, idem.Result{Conflicts: 1}) // the plan's prints differ: put 1 1, call 1
	rig.Want(t, "rows", rig.Table(t, db), "1=1 9=9")
	rig.Want(t, "generations", rig.Query(t, db, `SELECT count(*)::text FROM idem_key_gen`), "2")
}

// The bug, for keys that all partitions share: they are remembered when they are sent.
func TestFailedBatchLeavesNoRecentKeys(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Want(t, "result", rig.Apply(t, w, rig.Records(0, "a: put 1 1", "b: put 2 5000", "c: put 3 3")), idem.Result{Applied: 2, Dead: 1})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 3=3")
	rig.Want(t, "the dead letter's key", rig.Apply(t, w, rig.Records(3, "b: put 2 2")), idem.Result{Applied: 1})
}

// An own key that was claimed longer ago than the window is no longer remembered.
func TestOwnRecentKeysEndWithTheWindow(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{Edit: rig.Window(50 * time.Millisecond)}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "a: put 1 1"))
	idemtest.Exec(t, db, `DELETE FROM idem_keys`) // as if its generation had been dropped
	time.Sleep(60 * time.Millisecond)             // the window
	rig.Want(t, "result", rig.Apply(t, w, rig.Records(1, "a: put 1 2")), idem.Result{Applied: 1})
}

// A batch that claims nothing known takes one round trip also when generations are sealed,
// and copies of own keys need no read.
func TestBatchWithoutSuspectsReadsNoKeys(t *testing.T) {
	t.Parallel()
	var g rig.Gate
	db := rig.Database(t)
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option}}.Consumer(t, rig.Through(t, db, &g))
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "a: put 1 1"))
	rig.Rotate(t, db, c)
	rig.Apply(t, w, rig.Records(1, "b: put 2 2")) // meets the seal, reads the list
	rig.Await(t, log, "filter of sealed keys built", 1)
	before := g.Trips.Load()
	rig.Want(t, "result", rig.Apply(t, w, rig.Records(2, "c: put 3 3", "b: put 2 2", "a: put 1 1")), idem.Result{Applied: 1, Duplicates: 2})
	rig.Want(t, "round trips", g.Trips.Load()-before, 1)
}

// Without memory for a filter the database is asked, and the log says so.
func TestFiltersAboveTheLimitAreDoneWithout(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option}}.Consumer(t, db)
	c.LimitFilters(7) // less than one word
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "a: put 1 1"))
	rig.Rotate(t, db, c)
	rig.Apply(t, w, rig.Records(1, "b: put 2 2"))
	rig.Await(t, log, "no memory for a filter of sealed keys", 1)
	rig.Want(t, "copy", rig.Apply(t, rig.OwnPartition(t, c, 1), rig.Records(0, "a: put 1 1")), idem.Result{Duplicates: 1})
}

// The open generation is read first once races are frequent, and no longer when they are
// not.
func TestOpenGenerationIsReadWhileRacesAreFrequent(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	rival := rig.OwnPartition(t, rig.Service{}.Consumer(t, db), 1)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	races := func() int64 { return c.Stats().KeyRaces }
	next := int64(0)
	batch := func(key string) {
		rig.Apply(t, w, rig.Records(next, key+": put 1 1"))
		next++
	}
	for i := range 10 {
		rig.Apply(t, rival, rig.Records(int64(i), string(rune('a'+i))+": put 1 1"))
	}
	for i := range 10 {
		batch(string(rune('a' + i)))
	}
	rig.Want(t, "races of ten batches", races(), 3)
	rig.Want(t, "duplicates", c.Stats().Resent, 10)
}

// A key's time and place come from no record: a copy with another time is a duplicate, in
// whatever generation.
func TestRecordsTimeDoesNotChooseWhereKeysAreUnique(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	msgs := rig.Records(0, "a: put 1 1", "a: put 1 1", "a: put 1 1")
	msgs[0].Time, msgs[1].Time = time.Now(), time.Now().AddDate(-1, 0, 0)
	rig.Apply(t, w, msgs[:1])
	rig.Rotate(t, db, c)
	rig.Want(t, "copies", rig.Apply(t, rig.OwnPartition(t, c, 1), msgs), idem.Result{Duplicates: 3})
	rig.Want(t, "columns with a time", rig.Query(t, db, `SELECT count(*)::text FROM information_schema.columns WHERE table_name LIKE 'idem_keys%' AND data_type LIKE 'time%'`), "0")
}
