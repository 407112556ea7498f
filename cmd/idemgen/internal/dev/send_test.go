package dev

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A record that the service sent is printed on one line: its place, key, type and value, if it has
// them. Control characters are escaped.
func TestWhatTheServiceSentIsOneLine(t *testing.T) {
	long := strings.Repeat("x", 300)
	for want, r := range map[string]kgo.Record{
		"topic=t partition=2 offset=7 key=k type=made payload={}": {Topic: "t", Partition: 2, Offset: 7, Key: []byte("k"), Value: []byte("{}"),
			Headers: []kgo.RecordHeader{{Key: "id", Value: []byte("1")}, {Key: "type", Value: []byte("made")}}},
		"topic=t partition=0 offset=0 key= payload=":           {Topic: "t", Key: []byte{}, Value: []byte{}},
		"topic=t partition=0 offset=0 (a tombstone)":           {Topic: "t"},
		"topic=t partition=0 offset=0 key=k (a tombstone)":     {Topic: "t", Key: []byte("k")},
		`topic=t partition=0 offset=0 payload=a\nb\tc`:         {Topic: "t", Value: []byte("a\nb\tc")},
		"topic=t partition=0 offset=0 payload=" + long:         {Topic: "t", Value: []byte(long)},
		"topic=t partition=0 offset=0 payload=" + long + "...": {Topic: "t", Value: []byte(long + "y")},
		"topic=t partition=0 offset=0 payload=a\\u001b[31mb":   {Topic: "t", Value: []byte("a\x1b[31mb")},
	} {
		if got := asSent(&r); got != "the service sent: "+want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// The command that sends a record quotes its value, its key and its headers for a shell.
func TestARecordAsACommand(t *testing.T) {
	m := idem.Message{Topic: "orders", Key: []byte("k"), Value: []byte(`{"a":"it's"}`),
		Headers: []idem.Header{{Name: "type", Value: []byte("made")}, {Name: "n", Value: []byte("'")}}}
	for want, m := range map[string]idem.Message{
		`printf '%s' '{"a":"it'\''s"}' | kcat -P -b h:1 -t orders -k 'k' -H 'type=made' -H 'n='\'''`: m,
		`printf '%s' '' | kcat -P -b h:1 -t orders`:                                                  {Topic: "orders"},
	} {
		if got := asCommand("h:1", &Record{Message: m}); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// The records of topics that the service does not read are said, and all that were sent before the
// end.
func TestWhatTheServiceSendsIsFollowed(t *testing.T) {
	broker := idemtest.Kafka(t, map[string]int32{"read.v1": 1, "out.v1": 1, "new.v1": 1})
	out := &output{}
	r := &run{Options: Options{Out: out}, place: &place{broker: broker, brokers: broker.Addr(), topics: map[string]int32{"read.v1": 1}}}
	end, err := r.follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range []string{"read.v1", "out.v1"} {
		if err := broker.Produce(t.Context(), &idem.Message{Topic: topic, Value: []byte("of " + topic)}); err != nil {
			t.Fatal(err)
		}
	}
	out.says(t, "dev: the service sent: topic=out.v1 partition=0 offset=0 payload=of out.v1\n", 1)
	for topic, value := range map[string]string{"out.v1": "second", "new.v1": "first"} {
		if err := broker.Produce(t.Context(), &idem.Message{Topic: topic, Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
	}
	end()
	out.says(t, "topic=out.v1 partition=0 offset=1 payload=second\n", 1)
	out.says(t, "topic=new.v1 partition=0 offset=0 payload=first\n", 1)
	if err := broker.Produce(t.Context(), &idem.Message{Topic: "out.v1", Value: []byte("late")}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "read.v1") || strings.Contains(text, "late") {
		t.Error(text)
	}
}

// What became of the records in the log is waited for and said, unless the database is not that of
// a service.
func TestRecordsThatArePassedAreCounted(t *testing.T) {
	postgres, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = postgres.Close() })
	conn, err := pgx.Connect(t.Context(), postgres.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	execute := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	p := &place{database: postgres.URL(), postgres: postgres}
	settled := func(want string, records int64) {
		t.Helper()
		passed, dead, known := p.settle(t.Context(), records)
		if got := fmt.Sprint(passed, dead, known); got != want {
			t.Errorf("%d records: %s, want %s", records, got, want)
		}
	}
	settled("0 0 false", 1) // no ledger
	p.emptied(t.Context())  // no outbox
	if passed, dead, known := (&place{database: "postgres://127.0.0.1:1/none"}).settle(t.Context(), 0); passed != 0 || dead != 0 || known {
		t.Errorf("no database: %d, %d, %v", passed, dead, known)
	}
	execute(`CREATE TABLE idem_ledger (stream int, seq int, next bigint); CREATE TABLE idem_dead_letter (n int)`)
	settled("0 0 true", 0)
	execute(`INSERT INTO idem_ledger VALUES (1, 1, 2), (1, 2, 5), (2, 1, 3); INSERT INTO idem_dead_letter VALUES (1), (2)`)
	settled("8 2 true", 8)
	later := func(sql string) {
		time.AfterFunc(50*time.Millisecond, func() {
			if err := p.execute(context.Background(), sql); err != nil {
				t.Error(err)
			}
		})
	}
	later(`UPDATE idem_ledger SET next = 6 WHERE stream = 1 AND seq = 2`)
	settled("9 2 true", 9)
	out := &output{}
	r := &run{Options: Options{Out: out}, place: p}
	check := func(context.Context, string, bool) (string, error) { return "", nil }
	r.verdict(t.Context(), Sample{Name: "a"}, 9)
	r.verdict(t.Context(), Sample{Name: "b", Check: check}, 10)
	const want = "dev: 9 of 9 records in the log are passed, 2 as dead letters\n" +
		"dev: 9 of 10 records in the log are passed, 2 as dead letters; /readyz shows what the others wait for\ndev: b matches its then\n"
	if out.String() != want {
		t.Errorf("got %s\nwant %s", out, want)
	}
	execute(`CREATE TABLE idem_outbox (n int); INSERT INTO idem_outbox VALUES (1)`)
	later(`DELETE FROM idem_outbox`)
	p.emptied(t.Context())
	holds := true
	if err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM idem_outbox)`).Scan(&holds); err != nil || holds {
		t.Errorf("an event is left: %v (%v)", holds, err)
	}
}
