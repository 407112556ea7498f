package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// Planted bug: append sent last. An old owner must be refused before it waits for any row.
func TestOldOwnerIsRefusedBeforeItWaitsForARow(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	old := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, old, rig.Records(0, "put 1 1"))
	rig.Own(t, rig.Service{}.Consumer(t, db))
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), `UPDATE t SET v = 2 WHERE id = 1`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // lock_timeout says another error before
	defer cancel()
	refused := make(chan error, 1)
	go func() {
		_, err := old.Apply(ctx, rig.Records(1, "put 1 3"))
		refused <- err
	}()
	select {
	case err := <-refused:
		rig.WantError[*idem.FencedError](t, err)
	case <-ctx.Done():
		t.Error("the old owner waits for a row that another transaction holds")
	}
}

// Planted bugs: a dead letter, or a write, in a transaction of its own.
func TestRefusedOwnerLeavesNoDeadLetter(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	old := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Own(t, rig.Service{}.Consumer(t, db))
	_, err := old.Apply(t.Context(), rig.Records(0, "nonsense x", "put 1 1"))
	rig.WantError[*idem.FencedError](t, err)
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
	rig.Want(t, "rows", rig.Table(t, db), "")
}

// Planted bug: one token for all attempts of a writer. The batch fails as a whole, then its
// first record alone, then the reply to the dead letter's commit is lost: only the token
// tells that the row is that of the last attempt, which covers one record and not three.
func TestTokenTellsWhichAttemptCommitted(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	msgs := rig.Records(0, "a: put 1 5000", "b: put 2 2", "c: put 3 3")
	if _, err := w.Apply(fault.With(t.Context(), rig.Lose(fault.Reply)), msgs); err == nil {
		t.Fatal("the reply was not lost")
	}
	rig.Want(t, "settled", rig.Apply(t, w, msgs), idem.Result{Applied: 2, Dead: 1})
	rig.Want(t, "rows", rig.Table(t, db), "2=2 3=3")
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 database")
}

// Planted bug: keys unsorted. Partitions that claim the same keys in opposite order must
// wait for each other in one direction only.
func TestClaimsOfTheSameKeysDoNotDeadlock(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	const partitions, rounds, keys = 2, 4, 20
	writers := []*rig.Writer{rig.Own(t, c), rig.OwnPartition(t, c, 1)}
	// Slow claims overlap for sure: they begin together.
	idemtest.Exec(t, db, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$;
CREATE TRIGGER slow BEFORE INSERT ON idem_keys_1 FOR EACH ROW EXECUTE FUNCTION slow()`)
	for r := range rounds {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		errs := make(chan error, partitions)
		var met sync.WaitGroup
		met.Add(partitions)
		for p, w := range writers {
			var texts []string
			for k := range keys {
				texts = append(texts, fmt.Sprintf("%d-%d: skip 0", r, k))
			}
			if p%2 == 1 {
				slices.Reverse(texts)
			}
			go func() {
				_, err := w.Apply(rig.Once(ctx, fault.BeforeClaim, func() { met.Done(); met.Wait() }), rig.Records(int64(r*keys), texts...))
				errs <- err
			}()
		}
		for range partitions {
			if err := <-errs; err != nil {
				t.Errorf("a batch of round %d had to wait: %v", r, err)
			}
		}
		if cancel(); t.Failed() {
			return
		}
	}
	rig.Want(t, "keys", rig.Query(t, db, `SELECT count(*)::text FROM idem_keys`), fmt.Sprint(rounds*keys))
}

// Planted bug: genesis not tied to making the stream row. A first owner that was stopped in
// its genesis wakes after the chain went on and lost its first rows to retention.
func TestLateGenesisStartsNoSecondChain(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `INSERT INTO idem_key_gen (gen, consumer, token, keep) VALUES (1, 'test', gen_random_uuid(), '1 hour');
CREATE TABLE idem_keys_1 PARTITION OF idem_keys (PRIMARY KEY (key)) FOR VALUES IN (1)`)
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), `WITH s AS (INSERT INTO idem_stream (consumer, topic, topic_id, partition)
	VALUES ('test', $1, '00000000-0000-0000-0000-000000000000', 0) RETURNING stream)
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq)
SELECT stream, 7, gen_random_uuid(), 70, 77, 'b', -1, 1, 1, 0 FROM s`, rig.Topic); err != nil {
		t.Fatal(err)
	}
	late := make(chan int64, 1)
	c := rig.Service{}.Consumer(t, db)
	go func() {
		w, err := c.Own(context.Background(), rig.Topic, 0, 0) // waits for the stream's identity
		if err != nil {
			t.Error(err)
			late <- -1
			return
		}
		late <- w.Next()
	}()
	for deadline := time.Now().Add(time.Minute); rig.Query(t, db, `SELECT count(*)::text FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`) == "0"; {
		if time.Now().After(deadline) {
			t.Fatal("the late genesis does not wait")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "position", <-late, 77)
	rig.Want(t, "rows at seq 0", rig.Query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE seq = 0`), "0")
}
