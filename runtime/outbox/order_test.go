package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

func begin(t testing.TB, db *pgxpool.Pool) pgx.Tx {
	t.Helper()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func commit(t testing.TB, tx pgx.Tx) {
	t.Helper()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A transaction that commits late is sent, although rows with greater ids were sent before.
func TestALateCommitIsSent(t *testing.T) {
	db, kafka := database(t), &memory{}
	r, _ := newRelay(db, kafka)
	start(t, t.Context(), r)
	late := begin(t, db)
	insert(t, late, "t", "a", []byte("late"))
	for i := range 3 { // the relay has read and deleted several times
		insert(t, db, "t", "b", fmt.Append(nil, i))
		eventually(t, "the table is empty", isEmpty(t, db))
	}
	time.Sleep(3 * r.pace.floor)
	commit(t, late)
	wantValues(t, kafka, "0", "1", "2", "late")
}

// Who writes a row of an aggregate first has its lock first, whichever transaction began first.
func TestRowsOfAnAggregateAreSentInTheOrderOfItsLock(t *testing.T) {
	db, kafka := database(t), &memory{}
	idemtest.Exec(t, db, `CREATE TABLE orders (id int PRIMARY KEY); INSERT INTO orders VALUES (1)`)
	old, young := begin(t, db), begin(t, db)
	write := func(tx pgx.Tx, value string) {
		if _, err := tx.Exec(t.Context(), `SELECT FROM orders FOR UPDATE`); err != nil {
			t.Fatal(err)
		}
		insert(t, tx, "t", "1", []byte(value))
	}
	for _, tx := range []pgx.Tx{old, young} {
		if _, err := tx.Exec(t.Context(), `SELECT pg_current_xact_id()`); err != nil {
			t.Fatal(err)
		}
	}
	write(young, "first")
	commit(t, young)
	write(old, "second")
	commit(t, old)
	r, _ := newRelay(db, kafka)
	start(t, t.Context(), r)
	wantValues(t, kafka, "first", "second")
}

// Many write the same aggregates at once, Kafka and the database fail now and then, and batches
// are small: first occurrences of each aggregate are in the order of its versions, none missing.
func TestOrderUnderConcurrentWriters(t *testing.T) {
	db, kafka := database(t), &memory{}
	idemtest.Exec(t, db, `CREATE TABLE orders (id int PRIMARY KEY, version int NOT NULL); INSERT INTO orders SELECT n, 0 FROM generate_series(0, 3) AS n`)
	r, _ := newRelay(db, kafka)
	r.BatchRows = 7
	kafka.answer = func(context.Context, Record) error {
		switch rand.N(20) {
		case 0:
			return &RefusedError{Err: errors.New("too large")}
		case 1:
			return errors.New("timed out")
		}
		return nil
	}
	start(t, t.Context(), r)
	const writers, each = 6, 40
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				err := pgx.BeginFunc(context.Background(), db, func(tx pgx.Tx) error {
					_, err := tx.Exec(context.Background(), `
WITH o AS (UPDATE orders SET version = version + 1 WHERE id = $1 RETURNING id, version)
INSERT INTO idem_outbox_orders (event_id, topic, record_key, event_type, payload)
SELECT gen_random_uuid(), 't', id::text, 'Placed', convert_to(version::text, 'UTF8') FROM o`, rand.N(4))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		time.Sleep(30 * time.Millisecond)
		idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idemgen relay' AND datname = current_database()`)
	}
	all.Wait()
	eventually(t, "the table is empty", isEmpty(t, db))
	next, seen := map[string]int{}, map[string]bool{}
	for _, rec := range kafka.log {
		if id := header(rec, "Idempotency-Key"); !seen[id] {
			seen[id] = true
			next[string(rec.Key)]++
			if want := fmt.Sprint(next[string(rec.Key)]); string(rec.Value) != want {
				t.Fatalf("aggregate %s: version %s is the first occurrence where %s must be", rec.Key, rec.Value, want)
			}
		}
	}
	if len(seen) != writers*each {
		t.Errorf("%d events of %d were sent", len(seen), writers*each)
	}
}
