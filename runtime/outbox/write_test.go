package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

var _ outbox.Tx = idem.Tx(nil) // a handler's

func table(t testing.TB, by outbox.Sender) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Exec(t, db, outbox.Migration(by))
	return db
}

func query(t testing.TB, db *pgxpool.Pool, sql string) (text string) {
	t.Helper()
	if err := db.QueryRow(t.Context(), sql).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// An event is a row of the transaction that it was written in, as it was given.
func TestWrite(t *testing.T) {
	t.Parallel()
	db := table(t, outbox.ByRelay)
	idemtest.Exec(t, db, `ALTER TABLE idem_outbox ADD COLUMN "tenant-id" text`)
	write := func(tx pgx.Tx) error {
		return outbox.Write(t.Context(), tx,
			outbox.Event{AggregateType: "user", AggregateID: "7", Type: "UserRenamed", Payload: outbox.JSON(map[string]int{"a": 1})},
			outbox.Event{AggregateType: "user", AggregateID: "7", Type: "UserSeen", Payload: outbox.Bytes(nil),
				Headers: map[string]string{"tenant-id": "t 1", "traceparent": "00-1"}},
			outbox.Event{ID: [16]byte{15: 9}, AggregateType: "user", AggregateID: "7", Type: "UserDeleted"},
		)
	}
	rolled := errors.New("rolled back")
	if err := pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error { return errors.Join(write(tx), rolled) }); !errors.Is(err, rolled) {
		t.Fatal(err)
	}
	if err := pgx.BeginFunc(t.Context(), db, write); err != nil {
		t.Fatal(err)
	}
	got := query(t, db, `SELECT string_agg(concat_ws(' ', aggregatetype, aggregateid, type, coalesce(encode(payload, 'escape'), 'NULL'), "tenant-id", traceparent), E'\n' ORDER BY seq) FROM idem_outbox`)
	if want := "user 7 UserRenamed {\"a\":1}\nuser 7 UserSeen  t 1 00-1\nuser 7 UserDeleted NULL"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if ids := query(t, db, `SELECT count(DISTINCT id) || ' ' || count(*) FILTER (WHERE id = '00000000-0000-0000-0000-000000000009') FROM idem_outbox`); ids != "3 1" {
		t.Errorf("ids: %s", ids)
	}
}

// What cannot be sent is refused before anything is written, and says why.
func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	db := table(t, outbox.ByRelay)
	good := outbox.Event{AggregateType: "user", AggregateID: "7", Type: "UserSeen"}
	for want, edit := range map[string]func(*outbox.Event){
		"AggregateType is empty": func(e *outbox.Event) { e.AggregateType = "" },
		"AggregateID holds U+0000, which text and jsonb of Postgres cannot hold": func(e *outbox.Event) { e.AggregateID = "a\x00" },
		"Type is not valid UTF-8":       func(e *outbox.Event) { e.Type = "\xff" },
		`header "id" is reserved`:       func(e *outbox.Event) { e.Headers = map[string]string{"id": "1"} },
		`"" is not a valid header name`: func(e *outbox.Event) { e.Headers = map[string]string{"": "1"} },
		`header "tenant" holds U+0000, which text and jsonb of Postgres cannot hold`: func(e *outbox.Event) { e.Headers = map[string]string{"tenant": "\x00"} },
		"its payload cannot be encoded: js":                                          func(e *outbox.Event) { e.Payload = outbox.JSON(make(chan int)) },
	} {
		e := good
		edit(&e)
		err := outbox.Write(t.Context(), db, good, e)
		if !errors.Is(err, outbox.ErrRefused) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "outbox: event 2, of type ") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if n := left(t, db); n != "0" {
		t.Errorf("%s events were written", n)
	}
	undeclared := good
	undeclared.Headers = map[string]string{"tenant": "1"}
	if err := outbox.Write(t.Context(), db, good, undeclared); err == nil || errors.Is(err, outbox.ErrRefused) || !strings.Contains(err.Error(), "ALTER TABLE idem_outbox ADD COLUMN") {
		t.Errorf("a header without a column: %v", err)
	}
	idemtest.Exec(t, db, `DROP TABLE idem_outbox`)
	if err := outbox.Write(t.Context(), db, good); err == nil || !strings.Contains(err.Error(), "idemgen outbox migration prints the SQL") {
		t.Errorf("without a table: %v", err)
	}
	if err := outbox.Write(context.Background(), nil); err != nil {
		t.Errorf("without events: %v", err)
	}
}

// Under Debezium the table is empty when a transaction has committed, and a migration changes the
// sender in either direction.
func TestMigrationForDebezium(t *testing.T) {
	t.Parallel()
	db := table(t, outbox.ByRelay)
	one := outbox.Event{AggregateType: "user", AggregateID: "7", Type: "UserSeen"}
	for _, then := range []struct {
		by   outbox.Sender
		left string
	}{{outbox.ByDebezium, "0"}, {outbox.ByDebezium, "0"}, {outbox.ByRelay, "2"}, {outbox.ByDebezium, "2"}} {
		idemtest.Exec(t, db, outbox.Migration(then.by))
		if err := outbox.Write(t.Context(), db, one, one); err != nil {
			t.Fatal(err)
		}
		if left := query(t, db, `SELECT count(*)::text FROM idem_outbox`); left != then.left {
			t.Errorf("%s events are left, want %s", left, then.left)
		}
	}
}

// Debezium is given the inserts into the table, also where two schemas of a database have one.
func TestPublicationForDebezium(t *testing.T) {
	t.Parallel()
	db := idemtest.DB(t)
	for range 2 {
		for _, schema := range []string{"public", "other"} {
			idemtest.Exec(t, db, `CREATE SCHEMA IF NOT EXISTS `+schema)
			idemtest.Exec(t, db, `SET search_path = `+schema+`; `+outbox.Migration(outbox.ByDebezium)+`; RESET search_path`)
		}
	}
	got := query(t, db, `
SELECT string_agg(schemaname || '.' || tablename || ' ' || (pubinsert AND NOT pubupdate AND NOT pubdelete AND NOT pubtruncate), ', ' ORDER BY schemaname)
FROM pg_publication_tables JOIN pg_publication USING (pubname) WHERE pubname = 'idem_outbox'`)
	if want := "other.idem_outbox true, public.idem_outbox true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Bytes that are JSON already are the payload as they are, and others are refused: they are not
// encoded a second time, to a text in base64.
func TestJSONIsNotEncodedTwice(t *testing.T) {
	t.Parallel()
	const text = "{ \"n\": 1.0 }"
	for name, v := range map[string]any{"[]byte": []byte(text), "json.RawMessage": json.RawMessage(text)} {
		if got, err := outbox.JSON(v)(); err != nil || string(got) != text {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for name, v := range map[string]any{"[]byte": []byte("{"), "json.RawMessage": json.RawMessage("no"), "nil": []byte(nil), "a nil RawMessage": json.RawMessage(nil)} {
		if got, err := outbox.JSON(v)(); err == nil || !strings.Contains(err.Error(), "not valid JSON") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if got, err := outbox.JSON(nil)(); err != nil || string(got) != "null" {
		t.Errorf("nil: got %q, %v", got, err)
	}
}

// An id that is derived is the same each time, and parts that are cut elsewhere have another one.
func TestDerivedID(t *testing.T) {
	t.Parallel()
	id := outbox.ID("OrderPaid", "7")
	if id != outbox.ID("OrderPaid", "7") || id[6]>>4 != 8 || id[8]>>6 != 2 {
		t.Errorf("got %x", id)
	}
	for _, other := range [][]string{{"OrderPaid7"}, {"OrderPaid", "", "7"}, {"7", "OrderPaid"}, {"OrderPaid\" \"7"}, {}} {
		if outbox.ID(other...) == id {
			t.Errorf("%q has the same id", other)
		}
	}
	const want = "1ed5f412" // ids of events that were sent stay as they are
	if got := fmt.Sprintf("%x", id[:4]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
