package outbox

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/wire"
)

// column is a column of a row: what it has is scanned into what the relay has for it.
type column struct {
	name string
	oid  uint32
	has  any
}

// row is a row of the table. Nothing is scanned into columns that the relay passes over.
type row struct {
	columns []column
	err     error
	passed  []string
}

func (r *row) FieldDescriptions() (all []pgconn.FieldDescription) {
	for _, c := range r.columns {
		all = append(all, pgconn.FieldDescription{Name: c.name, DataTypeOID: c.oid})
	}
	return all
}

func (r *row) Scan(into ...any) error {
	for i, c := range r.columns {
		switch to := into[i].(type) {
		case nil:
			r.passed = append(r.passed, c.name)
		case *int64:
			*to = c.has.(int64)
		case *string:
			*to = c.has.(string)
		case **string:
			if text, is := c.has.(string); is {
				*to = &text
			}
		case *[]byte:
			*to, _ = c.has.([]byte)
		case *[]string:
			*to, _ = c.has.([]string)
		}
	}
	return r.err
}

func (*row) Values() ([]any, error) { return nil, nil }
func (*row) RawValues() [][]byte    { return nil }

func rowOf(payload []byte, about []string, more ...column) *row {
	return &row{columns: append([]column{
		{"seq", pgtype.Int8OID, int64(7)}, {"id", pgtype.UUIDOID, "i1"}, {"aggregatetype", pgtype.TextOID, "user"}, {"aggregateid", pgtype.TextOID, "9"},
		{"type", pgtype.TextOID, "Seen"}, {"payload", pgtype.ByteaOID, payload}, {"idem_letter", pgtype.TextArrayOID, about},
	}, more...)}
}

// textOf is a record in words.
func textOf(r Record) string {
	text := fmt.Sprintf("%s %q %q %t", r.Topic, r.Key, r.Value, r.Value == nil)
	for _, h := range r.Headers {
		text += fmt.Sprintf(" %s=%s", h.Name, h.Value)
	}
	return text
}

// TestRowsAreRecords: texts are headers, other columns are not, and what has no topic is known
// with the reason.
func TestRowsAreRecords(t *testing.T) {
	l, _ := leading()
	r := rowOf([]byte("pay"), nil, column{"tenant", pgtype.TextOID, "t1"}, column{"none", pgtype.TextOID, nil}, column{"short", pgtype.VarcharOID, "s"},
		column{"written_at", pgtype.TimestamptzOID, time.Time{}})
	e, err := l.event(r)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "record", textOf(e.record), `outbox.event.user "9" "pay" false id=i1 type=Seen tenant=t1 short=s`)
	expect(t, "passed over", fmt.Sprint(r.passed), "[written_at]")
	expect(t, "event", fmt.Sprintln(e.seq, e.id, e.kindOf, e.aggregate, e.bytes, e.invalid), "7 i1 Seen {user 9 false} 3 <nil>\n")
	e, err = l.event(rowOf(nil, nil))
	expect(t, "tombstone", fmt.Sprint(textOf(e.record), " ", e.bytes, err), `outbox.event.user "9" "" true id=i1 type=Seen 0 <nil>`)
	l.Topic = func(string) string { return ".." }
	e, err = l.event(rowOf(nil, nil))
	if err != nil || e.invalid == nil || !strings.Contains(e.invalid.Error(), `".." is not a valid topic name`) {
		t.Errorf("%v, %v", e.invalid, err)
	}
	torn := errors.New("torn")
	r.err = torn
	if _, err := l.event(r); !errors.Is(err, torn) || !strings.HasPrefix(err.Error(), "read idem_outbox: ") {
		t.Errorf("%v", err)
	}
}

// TestLettersAreRecords: a dead letter is the record that died, without headers of an earlier one,
// and with those about it that say something; only its key if its payload is omitted, and nothing
// of it if it was not kept.
func TestLettersAreRecords(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000000, time.FixedZone("x", 3600))
	stored := record.Append(nil, &wire.Message{Key: []byte("k"), Value: []byte("v"), Time: at, Headers: []wire.Header{
		{Name: "a", Value: []byte("1")}, {Name: "idem.reason", Value: []byte("old")}, {Name: "idem", Value: nil},
	}})
	timeless := record.Append(nil, &wire.Message{Key: []byte("k")})
	l, _ := leading()
	l.Topic = func(string) string { panic("is not asked") }
	for _, c := range []struct {
		name    string
		payload []byte
		about   []string
		want    string
	}{
		{"whole", stored, []string{"idem.reason", "bad", "idem.key", "", "idem.payload", "whole"}, `user "k" "v" false a=1 idem= idem.reason=bad idem.payload=whole idem.timestamp=2026-01-02T02:04:05.006Z <nil>`},
		{"omitted", stored, []string{"idem.payload", "omitted"}, `user "k" "" true idem.payload=omitted idem.timestamp=2026-01-02T02:04:05.006Z <nil>`},
		{"not kept", []byte("x"), []string{"idem.reason", "bad", "idem.payload", "erased"}, `user "" "" true idem.reason=bad idem.payload=erased <nil>`},
		{"without a time", timeless, []string{"idem.payload", "whole"}, `user "k" "" true idem.payload=whole <nil>`},
		{"odd", stored, []string{"a", "b", "c"}, `user "" "" true idem_outbox.idem_letter is not a list of names and values`},
		{"empty", stored, []string{}, `user "" "" true idem_outbox.idem_letter is not a list of names and values`},
	} {
		e, err := l.event(rowOf(c.payload, c.about))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, c.name, fmt.Sprint(textOf(e.record), " ", e.invalid), c.want)
		expect(t, c.name, fmt.Sprint(e.letters, e.bytes), fmt.Sprint(true, len(c.payload)))
	}
	if e, _ := l.event(rowOf([]byte{1}, []string{"idem.payload", "whole"})); e.invalid == nil {
		t.Error("a record that cannot be read is sent")
	}
}

// sentTo is a transaction of its own, or a handler's. The statement at failsAt fails.
type sentTo struct {
	pgx.BatchResults // what is not called
	batches          []*pgx.Batch
	failsAt          int
	reads            int
	closed           error
}

func (x *sentTo) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	x.batches = append(x.batches, b)
	return x
}

var errFails = errors.New("fails")

func (x *sentTo) Exec() (tag pgconn.CommandTag, err error) {
	if x.reads++; x.reads == x.failsAt {
		return tag, errFails
	}
	return tag, nil
}

func (x *sentTo) Close() error { return x.closed }

type handlersTx struct {
	*sentTo
	queued   []string
	subjects []string
}

func (x *handlersTx) Queue(sql string, args ...any) *pgx.QueuedQuery {
	x.queued = append(x.queued, fmt.Sprint(sql, args))
	return nil
}

func (x *handlersTx) OutboxID(subject string) [16]byte {
	x.subjects = append(x.subjects, subject)
	return [16]byte{1}
}

// TestStatementsOfWrite: an event is one statement with what it has; a handler's transaction
// queues it, with an id that is derived unless the event has one.
func TestStatementsOfWrite(t *testing.T) {
	events := []Event{
		{AggregateType: "user", AggregateID: "9", Type: "Seen"},
		{ID: [16]byte{15: 2}, AggregateType: "user", AggregateID: "9", Type: "Seen", Payload: Bytes(nil), Headers: map[string]string{"b": "2", `a"`: "1"}},
	}
	sent := &sentTo{}
	expect(t, "written", Write(t.Context(), sent, events...), nil)
	var got []string
	for _, q := range sent.batches[0].QueuedQueries {
		got = append(got, q.SQL+" "+fmt.Sprint(q.Arguments...))
	}
	const insert = "INSERT INTO idem_outbox (aggregatetype, aggregateid, type, payload"
	const two = insert + `, id, "a""", "b") VALUES ($1, $2, $3, $4, $5, $6, $7)`
	id := fmt.Sprint(pgtype.UUID{Bytes: [16]byte{15: 2}, Valid: true})
	expect(t, "statements", strings.Join(got, "\n"), insert+") VALUES ($1, $2, $3, $4) "+fmt.Sprint("user", "9", "Seen", nil)+"\n"+two+" "+fmt.Sprint("user", "9", "Seen", []byte{}, pgtype.UUID{Bytes: [16]byte{15: 2}, Valid: true}, "1", "2"))
	expect(t, "read", sent.reads, 2)

	h := &handlersTx{sentTo: &sentTo{}}
	expect(t, "queued", Write(t.Context(), h, events...), nil)
	derived := fmt.Sprint(pgtype.UUID{Bytes: [16]byte{1}, Valid: true})
	expect(t, "queued statements", strings.Join(h.queued, "\n"), insert+", id) VALUES ($1, $2, $3, $4, $5)[user 9 Seen <nil> "+derived+"]\n"+two+"[user 9 Seen [] "+id+" 1 2]")
	expect(t, "subjects of ids", fmt.Sprint(h.subjects), `["user" "9" "Seen"]`)
	expect(t, "sent", len(h.batches), 0)
	expect(t, "without events", errors.Join(Write(t.Context(), sent), Write(t.Context(), h)), nil)
	expect(t, "batches", len(sent.batches), 1)

	for _, c := range []struct {
		tx    *sentTo
		want  string
		reads int
	}{
		{&sentTo{failsAt: 1, closed: errors.New("closed")}, `outbox: event 1, of type "Seen": fails`, 1},
		{&sentTo{failsAt: 2}, `outbox: event 2, of type "Seen": fails`, 2},
		{&sentTo{closed: errors.New("closed")}, "closed", 2},
	} {
		err := Write(t.Context(), c.tx, events...)
		expect(t, "an error", fmt.Sprint(err), c.want)
		expect(t, "read", c.tx.reads, c.reads)
		expect(t, "of the database", errors.Is(err, errFails), c.tx.failsAt > 0)
	}
}

// TestWhatWriteChecks: what the table or Kafka cannot store, and names that are not free.
func TestWhatWriteChecks(t *testing.T) {
	with := func(name, value string) Event {
		return Event{AggregateType: "user", AggregateID: "9", Type: "Seen", Headers: map[string]string{"z": "ok", name: value}}
	}
	for _, c := range []struct {
		e    Event
		want string
	}{
		{with("a", "1"), ""},
		{Event{AggregateType: "user", AggregateID: "9"}, "Type is empty"},
		{Event{AggregateType: "user", Type: "Seen"}, "AggregateID is empty"},
		{Event{AggregateType: "\xff", AggregateID: "9", Type: "Seen"}, "AggregateType is not valid UTF-8"},
		{with("", "1"), `"" is not a valid header name`},
		{with("\xff", "1"), `"\xff" is not a valid header name`},
		{with("written_at", "1"), `header "written_at" is reserved: set it through the field of Event, if there is one`},
		{with("idem_letter", "1"), `header "idem_letter" is reserved: set it through the field of Event, if there is one`},
		{with("a", "\xff"), `header "a" is not valid UTF-8`},
	} {
		got := ""
		if err := c.e.check(); err != nil {
			got = err.Error()
		}
		expect(t, fmt.Sprintf("%+v", c.e.Headers), got, c.want)
	}
	bad := Event{AggregateType: "user", AggregateID: "9", Type: "Seen", Payload: func() ([]byte, error) { return nil, errFails }}
	err := Write(t.Context(), nil, bad)
	if !errors.Is(err, ErrRefused) || !errors.Is(err, errFails) {
		t.Errorf("a payload: %v", err)
	}
	if got, err := JSON(map[string]string{"a": "<"})(); err != nil || base64.StdEncoding.EncodeToString(got) != "eyJhIjoiXHUwMDNjIn0=" {
		t.Errorf("JSON: %s, %v", got, err)
	}
}

// TestAnswersOfAProducer: each record is answered once. A panic is a refusal, unless there was an
// answer before it.
func TestAnswersOfAProducer(t *testing.T) {
	answered := errors.New("answered")
	for name, c := range map[string]struct {
		does func(done func(error))
		want string
	}{
		"answers twice":      {func(done func(error)) { done(answered); done(nil) }, "[answered]"},
		"panics":             {func(func(error)) { panic("x") }, "[refused: the producer panicked: x]"},
		"answers and panics": {func(done func(error)) { done(nil); panic("x") }, "[<nil>]"},
		"answers nothing":    {func(func(error)) {}, "[]"},
	} {
		var got []error
		r := &Relay{Producer: does(c.does)}
		r.produce(Record{}, func(err error) { got = append(got, err) })
		expect(t, name, fmt.Sprint(got), c.want)
	}
}

type does func(done func(error))

func (d does) Produce(_ Record, done func(error)) { d(done) }
func (does) Purge()                               {}

// TestTopicsOfAggregateTypes: the usual one, or that of Relay.Topic, if it can be one.
func TestTopicsOfAggregateTypes(t *testing.T) {
	for _, c := range []struct {
		topic func(string) string
		kind  string
		want  string
	}{
		{nil, "user", "outbox.event.user <nil>"},
		{nil, strings.Repeat("x", 249-len("outbox.event.")), "outbox.event." + strings.Repeat("x", 236) + " <nil>"},
		{func(kind string) string { return kind + "s" }, "user", "users <nil>"},
		{func(string) string { return "" }, "user", " Relay.Topic has no topic for it"},
		{func(string) string { panic("x") }, "user", " Relay.Topic panicked: x"},
		{func(string) string { return "..." }, "user", "... <nil>"},
	} {
		name, err := (&Relay{Topic: c.topic}).topic(c.kind)
		expect(t, c.kind, fmt.Sprint(name, " ", err), c.want)
	}
	for _, name := range []string{"", ".", "..", "a b", strings.Repeat("x", 250), "a/b"} {
		if err := checkTopic(name); err == nil || !strings.Contains(err.Error(), "is not a valid topic name") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
