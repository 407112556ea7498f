package directory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// Records of one batch are sent on in their order, and with the bytes that they came with.
func TestWhatIsSentHasTheOrderOfWhatCame(t *testing.T) {
	db := idemtest.Migrated(t, "migrations")
	c, err := NewConsumer(db)
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, "outbox.event.user", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	const users = 20
	var records []idem.Message
	var want []string
	come := func(kind string, user int, value string) {
		m := idem.Message{
			Topic: "outbox.event.user", Offset: int64(len(records)), Key: fmt.Appendf(nil, "00000000-0000-4000-8000-%012d", user),
			Headers: []idem.Header{{Name: "type", Value: []byte(kind)}, {Name: "id", Value: fmt.Append(nil, len(records))}},
		}
		if value != "" {
			m.Value = []byte(value)
		}
		records = append(records, m)
	}
	for n := range users { // one comes, another one goes: no row of one is a row of the other
		value := fmt.Sprintf(`{"email": "%d", "full_name": "n", "more": [ ]}`, n)
		come("UserCreated", users-n, value)
		come("UserDeleted", 2*users-n, "")
		want = append(want, fmt.Sprintf("%d %s", users-n, value), fmt.Sprintf("%d tombstone", 2*users-n))
	}
	if _, err := w.Apply(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(t.Context(), `SELECT right(aggregateid, 2)::int || ' ' || coalesce(convert_from(payload, 'UTF8'), 'tombstone') FROM idem_outbox ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
	}
	if err := rows.Err(); err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v: sent\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// An event that is applied again after a failover that lost its commit is sent under the same id,
// and so is the event of a record that the producer sent again.
func TestAFailoverChangesNoID(t *testing.T) {
	record := func(offset, id, user int) idem.Message {
		return idem.Message{
			Topic: "outbox.event.user", Offset: int64(offset), Key: fmt.Appendf(nil, "00000000-0000-4000-8000-%012d", user),
			Headers: []idem.Header{{Name: "type", Value: []byte("UserCreated")}, {Name: "id", Value: fmt.Append(nil, id)}},
			Value:   []byte(`{"email": "a", "full_name": "n"}`),
		}
	}
	sent := func(records ...idem.Message) string {
		db := idemtest.Migrated(t, "migrations")
		c, err := NewConsumer(db)
		if err != nil {
			t.Fatal(err)
		}
		w, err := idemtest.Own(t, c, "outbox.event.user", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Apply(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		var ids string
		err = db.QueryRow(t.Context(), `SELECT string_agg(aggregateid || ' ' || id, E'\n' ORDER BY aggregateid) FROM idem_outbox`).Scan(&ids)
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	first := sent(record(0, 1, 1), record(1, 2, 2))
	if again := sent(record(0, 1, 1), record(1, 2, 2)); again != first {
		t.Errorf("applied again, the events have the ids\n%s\nbefore\n%s", again, first)
	}
	if resent := sent(record(0, 2, 2), record(1, 1, 1), record(2, 2, 2)); resent != first {
		t.Errorf("the copies of the records have the ids\n%s\nthe first ones\n%s", resent, first)
	}
}

// The migration is the one that the package has now.
func TestMigrationIsThatOfTheOutbox(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("migrations", "0004_outbox.sql"))
	if err != nil || string(text) != outbox.Migration(outbox.ByRelay) {
		t.Errorf("%v: write it anew: idemgen outbox migration > migrations/0004_outbox.sql", err)
	}
}
