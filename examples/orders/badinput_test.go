package orders

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

const (
	anOrder = "7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11"
	payload = `{"order_id":"7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11","customer_id":"C-1","channel":"web","total":129.90,` +
		`"placed_at":"2026-03-01T08:15:30Z","note":"é","items":[{"sku":"a","quantity":2,"price":49.95}]}`
)

func orderRecord(key, value string) idem.Message {
	return idem.Message{
		Key: []byte(anOrder), Value: []byte(value),
		Headers: []idem.Header{{Name: "event-type", Value: []byte("order.placed")}, {Name: "Idempotency-Key", Value: []byte(key)}},
	}
}

// other is a good order of its own.
func other(n int) idem.Message {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	m := orderRecord(fmt.Sprintf("good-%d", n), strings.ReplaceAll(payload, anOrder, id))
	m.Key = []byte(id)
	return m
}

// applyBetween applies bad records in one batch, between two good ones, and returns the
// reasons of the dead letters by offset. The good ones must have taken effect.
func applyBetween(t *testing.T, bad []idem.Message) map[int64]string {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "migrations")
	c, err := NewConsumer(db, Service{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, "orders.v1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := append([]idem.Message{other(1)}, bad...)
	all = append(all, other(2))
	for i := range all {
		all[i].Topic, all[i].Offset = "orders.v1", int64(i)
	}
	applied := applyReleasing(t, db, c, w, all)
	got := reasons(t, db)
	if applied != 2 || len(got) != len(bad) {
		t.Errorf("%d took effect and %d are dead letters, want 2 and %d", applied, len(got), len(bad))
	}
	return got
}

// applyReleasing applies records although more of them in a row are bad than
// on_failure.stop_after allows: the partition is released each time.
func applyReleasing(t *testing.T, db *pgxpool.Pool, c *idem.Consumer, w *idemtest.Writer, all []idem.Message) (applied int64) {
	t.Helper()
	for {
		res, err := w.Apply(t.Context(), all)
		applied += res.Applied
		halted, ok := errors.AsType[*idem.HaltedError](err)
		switch {
		case err == nil:
			return applied
		case !ok || halted.Code != halt.DeadLetters:
			t.Fatal(err)
		}
		idemtest.Release(t, db, "orders.v1", 0)
		if w, err = idemtest.Own(t, c, "orders.v1", 0, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func reasons(t *testing.T, db *pgxpool.Pool) map[int64]string {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT offs, reason FROM idem_dead_letter`)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int64]string{}
	var offset int64
	var reason string
	if _, err := pgx.ForEachRow(rows, []any{&offset, &reason}, func() error { out[offset] = reason; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// A payload that was cut at any byte is a dead letter of its own: nothing else of the batch
// is lost.
func TestPayloadCutAtEveryByte(t *testing.T) {
	var bad []idem.Message
	for n := range len(payload) {
		bad = append(bad, orderRecord(fmt.Sprint(n), payload[:n]))
	}
	for offset, reason := range applyBetween(t, bad) {
		if !strings.HasPrefix(reason, "decode: OrderPlaced: ") {
			t.Errorf("cut at byte %d: %s", offset-1, reason)
		}
	}
}

// Each class of a bad record has a stable reason with the path of the value.
func TestBadRecordsHaveStableReasons(t *testing.T) {
	swap := func(old, new string) idem.Message {
		if !strings.Contains(payload, old) {
			t.Fatalf("the payload does not hold %q", old)
		}
		return orderRecord("k", strings.Replace(payload, old, new, 1))
	}
	headers := func(h ...idem.Header) idem.Message {
		m := orderRecord("k", payload)
		m.Headers = h
		return m
	}
	placed := idem.Header{Name: "event-type", Value: []byte("order.placed")}
	keyed := func(v []byte) idem.Header { return idem.Header{Name: "Idempotency-Key", Value: v} }
	cases := []struct {
		name   string
		record idem.Message
		reason string // what the reason must begin with
	}{
		{"only white space", orderRecord("k", " \n"), "decode: OrderPlaced: "},
		{"trailing garbage", orderRecord("k", payload+"x"), "decode: OrderPlaced: "},
		{"second document", orderRecord("k", payload+payload), "decode: OrderPlaced: "},
		{"byte order mark", orderRecord("k", "\ufeff"+payload), "decode: OrderPlaced: "},
		{"UTF-16", orderRecord("k", "\xff\xfe{\x00}\x00"), "decode: OrderPlaced: "},
		{"wrong root", orderRecord("k", "[]"), "decode: OrderPlaced: "},
		{"bad UTF-8", swap("C-1", "C-\xff"), "decode: OrderPlaced: customer_id "},
		{"lone surrogate", swap("C-1", `C-\ud800`), "decode: OrderPlaced: customer_id "},
		{"U+0000", swap("C-1", `C-\u0000`), "decode: OrderPlaced: customer_id "},
		{"member twice", swap(`"channel":"web"`, `"channel":"web","channel":"app"`), "decode: OrderPlaced: channel "},
		{"member twice, by an escape", swap(`"channel":"web"`, `"channel":"web","\u0063hannel":"app"`), "decode: OrderPlaced: channel "},
		{"missing", swap(`"channel":"web",`, ""), "decode: OrderPlaced: channel is missing"},
		{"null", swap(`"web"`, "null"), "decode: OrderPlaced: channel must not be null"},
		{"unknown enum", swap(`"web"`, `"fax"`), "decode: OrderPlaced: channel "},
		{"number for text", swap(`"C-1"`, "1"), "decode: OrderPlaced: customer_id "},
		{"fraction for integer", swap(`"quantity":2`, `"quantity":2.5`), "decode: OrderPlaced: items[0].quantity "},
		{"beyond int32", swap(`"quantity":2`, `"quantity":2147483648`), "decode: OrderPlaced: items[0].quantity "},
		{"leading zero", swap(`"quantity":2`, `"quantity":02`), "decode: OrderPlaced: items[0].quantity "},
		{"10^400", swap("129.90", "1e400"), "fit: OrderPlaced: total "},
		{"10^4000", swap("129.90", "1e4000"), "decode: OrderPlaced: total "},
		{"too many digits", swap("129.90", "12345678901.00"), "fit: OrderPlaced: total "},
		{"would be rounded", swap("129.90", "129.905"), "fit: OrderPlaced: total "},
		{"would be rounded, in an element", swap("49.95", "49.955"), "fit: OrderPlaced: items[0].price "},
		{"no zone", swap("08:15:30Z", "08:15:30"), "decode: OrderPlaced: placed_at "},
		{"list for object", swap(`[{"sku":"a","quantity":2,"price":49.95}]`, `{}`), "decode: OrderPlaced: items "},
		{"other record key", swap(anOrder, "00000000-0000-4000-8000-000000000009"), "decode: OrderPlaced: order_id "},
		{"too deep", swap(`"note":"é"`, `"more":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)), "decode: OrderPlaced: "},
		{"too large", swap(`"note":"é"`, `"more":"`+strings.Repeat("x", 1<<20)+`"`), "too_large: "},
		{"unknown type", headers(idem.Header{Name: "event-type", Value: []byte("order.lost")}, keyed([]byte("k"))), "unknown_type: "},
		{"no type", headers(keyed([]byte("k"))), "decode: header event-type is missing"},
		{"type twice", headers(placed, placed, keyed([]byte("k"))), "decode: header event-type occurs 2 times"},
		{"no key", headers(placed), "key: OrderPlaced: header Idempotency-Key is missing"},
		{"key twice", headers(placed, keyed([]byte("a")), keyed([]byte("b"))), "key: OrderPlaced: header Idempotency-Key "},
		{"empty key", headers(placed, keyed([]byte{})), "key: OrderPlaced: header Idempotency-Key is empty"},
		{"null key", headers(placed, keyed(nil)), "key: OrderPlaced: header Idempotency-Key "},
	}
	var bad []idem.Message
	for _, c := range cases {
		bad = append(bad, c.record)
	}
	got := applyBetween(t, bad)
	for i, c := range cases {
		if reason := got[int64(i+1)]; !strings.HasPrefix(reason, c.reason) {
			t.Errorf("%s: got %q, want %q", c.name, reason, c.reason)
		}
	}
}

// One key under two record keys is a mistake of the producer, never a copy: the record key
// is part of what copies share.
func TestOneKeyForTwoRecordKeysIsAConflict(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "migrations")
	c, err := NewConsumer(db, Service{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, "orders.v1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	log := []idem.Message{other(1), other(2), shipped(1), shipped(2)}
	for i := range log {
		log[i].Topic, log[i].Offset = "orders.v1", int64(i)
	}
	res, err := w.Apply(t.Context(), log)
	if want := (idem.Result{Applied: 3, Conflicts: 1}); err != nil || res != want {
		t.Errorf("got %+v, %v, want %+v", res, err, want)
	}
}

// shipped has no order in its payload: only the record key tells which.
func shipped(n int) idem.Message {
	m := other(n)
	m.Value = []byte(`{"carrier":"DHL"}`)
	m.Headers = []idem.Header{{Name: "event-type", Value: []byte("order.shipped")}, {Name: "Idempotency-Key", Value: []byte("one for all")}}
	return m
}

// SQL, JSON and template text in a field arrives as it was sent.
func TestTextOfFieldsCannotInject(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Migrate(t, db, "migrations")
	c, err := NewConsumer(db, Service{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, "orders.v1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	const nasty = `'); DROP TABLE orders; -- {"a":1} \\ $1 ${X} {{.}}`
	m := orderRecord(nasty, strings.Replace(payload, "C-1", strings.ReplaceAll(strings.ReplaceAll(nasty, `\`, `\\`), `"`, `\"`), 1))
	m.Topic = "orders.v1"
	if _, err := w.Apply(t.Context(), []idem.Message{m}); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := db.QueryRow(t.Context(), `SELECT customer_id FROM orders`).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != nasty {
		t.Errorf("got %q, want %q", got, nasty)
	}
}
