package textbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

const bob = "00000000-0000-4000-8000-000000000003"

// saved and deleted are what the router of an outbox makes of two rows: the row's id is a header,
// and the value is the payload alone; none for a tombstone.
func saved(offset int64, user, name string) idem.Message {
	return routed(offset, "UserSaved", user, fmt.Appendf(nil, `{"name": %q}`, name))
}

func deleted(offset int64, user string) idem.Message {
	return routed(offset, "UserDeleted", user, nil)
}

func routed(offset int64, kind, user string, payload []byte) idem.Message {
	return idem.Message{
		Topic: users, Offset: offset, LeaderEpoch: -1, Key: []byte(user), Value: payload,
		Headers: []idem.Header{{Name: "id", Value: fmt.Appendf(nil, "event-%d", offset)}, {Name: "type", Value: []byte(kind)}},
	}
}

// people compares who is there.
func people(t *testing.T, db *pgxpool.Pool, whose, want string) {
	t.Helper()
	holds(t, db, whose, `SELECT string_agg(name, ', ' ORDER BY name) FROM people`, want)
}

const upsert = `INSERT INTO people VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET name = EXCLUDED.name`

// upsertUser needs no ids: to set the same name twice changes nothing.
func upsertUser(ctx context.Context, db session, m idem.Message) error {
	var user struct{ ID, Name string }
	if err := json.Unmarshal(m.Value, &user); err != nil {
		return err
	}
	_, err := db.Exec(ctx, upsert, string(m.Key), user.Name)
	return err
}

// idFromValue looks for the event's id where it is not.
func idFromValue(ctx context.Context, db *pgxpool.Pool, m idem.Message) error {
	var event struct{ ID string }
	if err := json.Unmarshal(m.Value, &event); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if fresh, err := claim(ctx, tx, event.ID); err != nil || !fresh {
			return err
		}
		return upsertUser(ctx, tx, m)
	})
}

// The router moves the id into a header. A consumer that reads it from the value finds the empty
// text there, in each record: the second event is a duplicate of the first.
func TestEventIDIsReadFromTheValue(t *testing.T) {
	t.Parallel()
	log := []idem.Message{saved(0, ada, "Ada"), saved(1, bob, "Bob")}
	db := processed(t)
	for _, m := range log {
		must(t, idFromValue(t.Context(), db, m))
	}
	people(t, db, "id from the value", "Ada")

	db = idemtest.Migrated(t, "migrations")
	w := own(t, db, users, 0)
	apply(t, w, idem.Result{Applied: 2}, log...)
	apply(t, w, idem.Result{Duplicates: 1}, moved(log[1], 0, 2))
	people(t, db, "generated", "Ada, Bob")
}

// An upsert is right for what Kafka delivers again at once. An old copy behind a newer event
// brings the old state back.
func TestUpsertOfAnOldCopy(t *testing.T) {
	t.Parallel()
	first, second := saved(0, ada, "Ada"), saved(1, ada, "Ada Lovelace")
	db := processed(t)
	for _, m := range []idem.Message{first, first, second, second} {
		must(t, upsertUser(t.Context(), db, m))
	}
	people(t, db, "upsert, delivered again", "Ada Lovelace")
	must(t, upsertUser(t.Context(), db, first))
	people(t, db, "upsert, an old copy", "Ada")

	db = idemtest.Migrated(t, "migrations")
	apply(t, own(t, db, users, 0), idem.Result{Applied: 2, Duplicates: 1}, first, second, moved(first, 0, 2))
	people(t, db, "generated", "Ada Lovelace")
}

// deleteUser removes a user, and says so in the same transaction by an event without a payload.
func deleteUser(ctx context.Context, db *pgxpool.Pool, user string) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM people WHERE user_id = $1`, user); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO outbox VALUES (gen_random_uuid(), $1, 'UserDeleted', NULL)`, user)
		return err
	})
}

// A table of events whose payload is NOT NULL takes no tombstone, so no user can be deleted.
func TestTombstoneIntoAPayloadThatIsNotNull(t *testing.T) {
	t.Parallel()
	db := processed(t)
	idemtest.Exec(t, db, `CREATE TABLE outbox (id uuid PRIMARY KEY, aggregate_id text NOT NULL, type text NOT NULL, payload jsonb NOT NULL)`)
	idemtest.Exec(t, db, upsert, ada, "Ada")
	err := deleteUser(t.Context(), db, ada)
	if refused, ok := errors.AsType[*pgconn.PgError](err); !ok || refused.Code != "23502" || refused.ColumnName != "payload" {
		t.Errorf("deleted: %v", err)
	}
	people(t, db, "payload NOT NULL", "Ada")

	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
	must(t, pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `DELETE FROM people WHERE user_id = $1`, ada); err != nil {
			return err
		}
		return outbox.Write(t.Context(), tx, outbox.Event{AggregateType: "user", AggregateID: ada, Type: "UserDeleted"})
	}))
	people(t, db, "outbox.Write", "nothing")
	holds(t, db, "outbox.Write", `SELECT type || ' ' || (payload IS NULL) FROM idem_outbox`, "UserDeleted true")
}

// emptyForNil reads a record without a value as an object without members.
func emptyForNil(ctx context.Context, db *pgxpool.Pool, m idem.Message) error {
	if m.Value == nil {
		m.Value = []byte(`{}`)
	}
	return upsertUser(ctx, db, m)
}

// deleteForNil knows a tombstone, and takes a delete for something that may be done at any time.
func deleteForNil(ctx context.Context, db *pgxpool.Pool, m idem.Message) error {
	if m.Value != nil {
		return upsertUser(ctx, db, m)
	}
	_, err := db.Exec(ctx, `DELETE FROM people WHERE user_id = $1`, string(m.Key))
	return err
}

// A tombstone is no empty object: that makes a user without a name. It is an event with an id as
// all others are: a copy of it that comes late must not delete who is there again.
func TestTombstones(t *testing.T) {
	t.Parallel()
	log := []idem.Message{saved(0, ada, "Ada"), deleted(1, ada)}
	back := saved(2, ada, "Ada is back")
	db := processed(t)
	for _, m := range log {
		must(t, emptyForNil(t.Context(), db, m))
	}
	holds(t, db, "empty for nil", `SELECT string_agg('"' || name || '"', ',') FROM people`, `""`)
	for _, m := range log {
		must(t, deleteForNil(t.Context(), db, m))
	}
	people(t, db, "delete for nil", "nothing")
	for _, m := range []idem.Message{back, log[1]} {
		must(t, deleteForNil(t.Context(), db, m))
	}
	people(t, db, "delete for nil, a copy of the tombstone", "nothing")

	db = idemtest.Migrated(t, "migrations")
	w := own(t, db, users, 0)
	apply(t, w, idem.Result{Applied: 2}, log...)
	people(t, db, "generated", "nothing")
	apply(t, w, idem.Result{Applied: 1, Duplicates: 1}, back, moved(log[1], 0, 3))
	people(t, db, "generated, a copy of the tombstone", "Ada is back")
}
