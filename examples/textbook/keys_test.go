package textbook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// claimAs is claimWithEffect with another key.
func claimAs(ctx context.Context, db *pgxpool.Pool, id string, m idem.Message) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if fresh, err := claim(ctx, tx, id); err != nil || !fresh {
			return err
		}
		return book(ctx, tx, m)
	})
}

// place is a key made of where the record stands.
func place(m idem.Message) string { return fmt.Sprintf("%s-%d-%d", m.Topic, m.Partition, m.Offset) }

// The place of a record is a good key for what Kafka delivers again, and for nothing else: what
// the producer sends again stands in another place.
func TestPlaceAsKeyDoesNotKnowTheProducersCopy(t *testing.T) {
	t.Parallel()
	m := received(0, "a", 100)
	again, elsewhere := moved(m, 0, 1), moved(m, 1, 0)
	db := processed(t)
	for range 2 {
		must(t, claimAs(t.Context(), db, place(m), m))
	}
	balance(t, db, "place as key, delivered again", 100)
	must(t, claimAs(t.Context(), db, place(again), again))
	must(t, claimAs(t.Context(), db, place(elsewhere), elsewhere))
	balance(t, db, "place as key, sent again", 300)

	db = idemtest.Migrated(t, "migrations")
	apply(t, own(t, db, payments, 0), idem.Result{Applied: 1, Duplicates: 1}, m, again)
	apply(t, own(t, db, payments, 1), idem.Result{Duplicates: 1}, elsewhere)
	balance(t, db, "generated", 100)
	refuses(t, "E501", "{source: {header: Idempotency-Key}, window: 8d}", "{source: {record: offset}}")
}

// insertPayment takes an error for a duplicate, if it says so.
func insertPayment(ctx context.Context, db *pgxpool.Pool, id, receipt string, duplicate func(error) bool) error {
	_, err := db.Exec(ctx, `INSERT INTO payments VALUES ($1, $2, $3, 100)`, id, receipt, account)
	if err != nil && duplicate(err) {
		return nil
	}
	return err
}

// uniqueViolation asks for the code, duplicateKey for the text: both are of any unique key of any
// table. ofTheID is right: it asks for the constraint, too.
func uniqueViolation(err error) bool {
	of, ok := errors.AsType[*pgconn.PgError](err)
	return ok && of.Code == "23505"
}

func duplicateKey(err error) bool { return strings.Contains(err.Error(), "duplicate key value") }

func ofTheID(err error) bool {
	of, ok := errors.AsType[*pgconn.PgError](err)
	return ok && of.ConstraintName == "payments_pkey"
}

// Another payment has a receipt that was used. It is no copy, but the database's error has the
// code and the text of one.
func TestAnyUniqueViolationIsTakenForADuplicate(t *testing.T) {
	t.Parallel()
	for name, recipe := range map[string]struct {
		duplicate func(error) bool
		silent    bool
	}{
		"code 23505":        {uniqueViolation, true},
		"text of the error": {duplicateKey, true},
		"the constraint":    {ofTheID, false},
	} {
		db := processed(t)
		for range 2 {
			must(t, insertPayment(t.Context(), db, "a", "R-1", recipe.duplicate))
		}
		err := insertPayment(t.Context(), db, "b", "R-1", recipe.duplicate)
		if (err == nil) != recipe.silent {
			t.Errorf("%s: %v", name, err)
		}
		holds(t, db, name, `SELECT string_agg(payment_id, ' ') FROM payments`, "a")
	}
	other := received(2, "b", 100)
	other.Value = []byte(strings.Replace(string(other.Value), "R-b", "R-a", 1))
	m := received(0, "a", 100)
	db := idemtest.Migrated(t, "migrations")
	apply(t, own(t, db, payments, 0), idem.Result{Applied: 1, Duplicates: 1, Dead: 1}, m, moved(m, 0, 1), other)
	balance(t, db, "generated", 100)
	holds(t, db, "generated, dead letters", `SELECT string_agg(sqlstate || ' ' || (reason LIKE '%payments_receipt_key%'), ';') FROM idem_dead_letter`, "23505 true")
}

// claimAt claims an id in a table that is partitioned by time: its primary key must hold the time.
func claimAt(ctx context.Context, db *pgxpool.Pool, m idem.Message, now time.Time) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `INSERT INTO claims VALUES ($1, $2) ON CONFLICT DO NOTHING`, key(m), now)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return book(ctx, tx, m)
	})
}

// A primary key of id and time knows an id only at the very same time: neither on the next day, in
// another partition of the table, nor a millisecond later in the same one.
func TestPrimaryKeyWithATime(t *testing.T) {
	t.Parallel()
	m, midnight := received(0, "a", 100), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	db := processed(t)
	idemtest.Exec(t, db, `CREATE TABLE claims (id text, at timestamptz, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
		CREATE TABLE claims_1 PARTITION OF claims FOR VALUES FROM ('2026-03-01Z') TO ('2026-03-02Z');
		CREATE TABLE claims_2 PARTITION OF claims FOR VALUES FROM ('2026-03-02Z') TO ('2026-03-03Z')`)
	for _, now := range []time.Duration{-2, -1, 1} { // milliseconds to midnight
		must(t, claimAt(t.Context(), db, m, midnight.Add(now*time.Millisecond)))
	}
	balance(t, db, "key with a time", 300)

	db = idemtest.Migrated(t, "migrations")
	w := own(t, db, payments, 0)
	apply(t, w, idem.Result{Applied: 1}, m)
	apply(t, w, idem.Result{Duplicates: 1}, moved(m, 0, 1))
	apply(t, own(t, db, payments, 0), idem.Result{Duplicates: 1}, moved(m, 0, 2))
	balance(t, db, "generated", 100)
}

// forget is a job that deletes old ids.
const forget = `DELETE FROM processed WHERE created_at < now() - interval '48 hours'`

// The topic keeps a week, and the table two days. A group whose offset is set back by three days
// finds records whose ids are gone.
func TestIDsThatAreForgottenBeforeTheRecords(t *testing.T) {
	t.Parallel()
	m := received(0, "a", 100)
	db := processed(t)
	must(t, claimWithEffect(t.Context(), db, m, nil))
	idemtest.Exec(t, db, `UPDATE processed SET created_at = now() - interval '3 days'`)
	must(t, claimWithEffect(t.Context(), db, m, nil))
	balance(t, db, "before the job", 100)
	idemtest.Exec(t, db, forget)
	must(t, claimWithEffect(t.Context(), db, m, nil))
	balance(t, db, "behind the job", 200)

	// What was read is known by the position, also when no key is left.
	db = idemtest.Migrated(t, "migrations")
	apply(t, own(t, db, payments, 0), idem.Result{Applied: 1}, m)
	idemtest.Exec(t, db, `DELETE FROM idem_keys`)
	w := own(t, db, payments, 0)
	apply(t, w, idem.Result{Duplicates: 1}, m)
	balance(t, db, "generated", 100)
	// A copy that the producer sends behind the window is a new event here, too: what refuses it is
	// the primary key of its row.
	apply(t, w, idem.Result{Dead: 1}, moved(m, 0, 1))
	balance(t, db, "generated, behind the window", 100)
}

// A record without its key is processed anyway: under no key, under a random one, or under the
// empty one, which all such records share.
func TestRecordWithoutItsKey(t *testing.T) {
	t.Parallel()
	first, second := received(0, "a", 100), received(1, "b", 1000)
	first.Headers, second.Headers = nil, nil
	random := 0
	for _, recipe := range []struct {
		name string
		play func(*pgxpool.Pool, idem.Message) error
		want int
	}{
		{"without a claim", func(db *pgxpool.Pool, m idem.Message) error { return book(t.Context(), db, m) }, 1200},
		{"a random key", func(db *pgxpool.Pool, m idem.Message) error {
			random++
			return claimAs(t.Context(), db, fmt.Sprint("random ", random), m)
		}, 1200},
		{"the empty key", func(db *pgxpool.Pool, m idem.Message) error { return claimAs(t.Context(), db, key(m), m) }, 100},
	} {
		db := processed(t)
		for _, m := range []idem.Message{first, first, second} {
			must(t, recipe.play(db, m))
		}
		balance(t, db, recipe.name, recipe.want)
	}
	db := idemtest.Migrated(t, "migrations")
	apply(t, own(t, db, payments, 0), idem.Result{Applied: 1, Dead: 2}, first, second, received(2, "c", 10))
	apply(t, own(t, db, payments, 0), idem.Result{Duplicates: 1}, first)
	balance(t, db, "generated", 10)
	holds(t, db, "generated, dead letters", `SELECT string_agg(DISTINCT reason, ';') FROM idem_dead_letter`, "key: PaymentReceived: header Idempotency-Key is missing; the record has no headers")
}
