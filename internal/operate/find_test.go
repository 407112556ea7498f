package operate_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

func TestOffsetIsFoundWhereverThePositionWent(t *testing.T) {
	db := ledgers(t)
	for _, c := range []struct {
		offset  int64
		verdict operate.Verdict
		because string
	}{
		{9, operate.Outside, "the ledger began after it, at offset 10"},
		{10, operate.Covered, "ledger row 2 covers offsets 10 to 14"},
		{12, operate.Covered, "ledger row 7 covers offsets 12 to 13"}, // after the move back
		{14, operate.Covered, "the position has since been moved back to 14, so it is read again"},
		{15, operate.Applied, "ledger row 3 covers offset 15"},
		{17, operate.Skipped, "operator ann: test data"},
		{20, operate.NotSeen, "the position is 14"},
	} {
		a, err := operate.FindOffset(t.Context(), db, projector, c.offset)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "verdict", a.Verdict, c.verdict)
		says(t, a.Because, c.because)
	}
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE seq < 4`)
	a, err := operate.FindOffset(t.Context(), db, projector, 10)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "verdict", a.Verdict, operate.Outside)
	says(t, a.Because, "by a row that has since been removed", "the oldest row of the ledger is row 4, of 2026-11-23T09:04:00Z")
	wrong := projector
	wrong.Topic = "orders"
	_, err = operate.FindOffset(t.Context(), db, wrong, 10)
	refused(t, err, "it has topics orders.v1")
}

func TestLetterIsTheAnswerUntilItsOffsetIsReadAgain(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, `
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, record) VALUES
    (1, 11, 2, 'd', NULL, 'decode: bad', NULL), (1, 12, 2, 'd', NULL, 'decode: bad', NULL), (1, 13, 7, 'w', 'Paid', 'decode: Paid: bad', NULL);
INSERT INTO idem_dead_letter (stream, offs, seq, state, reason, resolved_at, resolved_seq, resolved_by)
VALUES (1, 10, 2, 'r', 'handler: no', now(), 8, 'ann: mended');
UPDATE idem_dead_letter SET created_at = '2026-11-23 10:00Z'`)
	for offset, verdict := range map[int64]operate.Verdict{10: operate.Replayed, 11: operate.Dead, 12: operate.Covered, 13: operate.Waiting} {
		a, err := operate.FindOffset(t.Context(), db, projector, offset)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "verdict", a.Verdict, verdict)
		want(t, "a letter", a.Letter != nil, verdict != operate.Covered)
		if because := map[int64]string{
			10: "ledger row 2 passed it at 2026-11-23T10:00:00Z: handler; ledger row 8 ended that",
			11: "ledger row 2 passed it at 2026-11-23T10:00:00Z: decode",
			13: "ledger row 7 passed it at 2026-11-23T10:00:00Z: decode",
		}[offset]; because != "" {
			want(t, "why", a.Because, because)
		}
	}
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET reason = 'interrupted: Paid: nobody knows', key = 'abababab-abab-abab-abab-abababababab' WHERE offs = 11`)
	a, err := operate.FindOffset(t.Context(), db, projector, 11)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "key of a call", a.Key, strings.Repeat("ab", 16))
	if o, err := operate.Open(t.Context(), db, projector, 11); err != nil || o.Key != a.Key || o.First != nil {
		t.Errorf("%+v, %v", o, err)
	}
	_, err = operate.Open(t.Context(), db, projector, 14)
	refused(t, err, "orders.v1/0 of projector has no dead letter at offset 14; the nearest are 0:13, 0:12, 0:11, 0:10")
	o, err := operate.Open(t.Context(), db, projector, 13)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "class, event and error", o.Class+" "+o.Event+" "+o.Reason, "decode Paid bad")
	want(t, "a record that is not kept", o.Record, nil)
	list, err := operate.Letters(t.Context(), db, operate.Selection{}, 2)
	want(t, "more than two are open", err == nil && len(list.Letters) == 2 && list.More, true)
	list, err = operate.Letters(t.Context(), db, operate.Selection{Closed: true, Class: "handler"}, 10)
	if found := list.Letters; err != nil || len(found) != 1 || found[0].End == nil || found[0].End.By != "ann: mended" {
		t.Errorf("%v, %v", found, err)
	}
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE seq < 4`)
	if a, err = operate.FindOffset(t.Context(), db, projector, 11); err != nil || a.Verdict != operate.Dead || a.Row != nil || a.Letter == nil {
		t.Errorf("a letter whose row was removed: %+v, %v", a, err)
	}
}

// The bytes of a key may stand across two keys of a row: that is no key.
func TestKeyInALedger(t *testing.T) {
	db := ledgers(t)
	find := func(b byte) operate.Answer {
		t.Helper()
		key := record.EventKey{Hash: [16]byte(bytes.Repeat([]byte{b}, 16)), Here: true}
		a, err := operate.FindKey(t.Context(), db, projector.Consumer, projector.Topic, -1, key)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := find(0xcd)
	want(t, "verdict", a.Verdict, operate.Applied)
	says(t, a.Because, "ledger row 3 of orders.v1/0 applied it: offset 15")
	want(t, "a key without a call", a.Key, "")
	idemtest.Exec(t, db, `INSERT INTO idem_lease (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at)
VALUES ('projector', 'cdcdcdcd-cdcd-cdcd-cdcd-cdcdcdcdcdcd', 0, 0, 'i', gen_random_uuid(), 1, 1, '1m', true, '1d', now())`)
	want(t, "the key of a call", find(0xcd).Key, strings.Repeat("cd", 16))
	want(t, "across two keys", find(0xab).Verdict, operate.Unknown)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET window_seq = 4 WHERE seq = 7`)
	says(t, find(0xcd).Because, "its window has passed")
}

// A key of one partition that came through two is told with both rows.
func TestKeyInTwoLedgers(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET window_seq = 0;
INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('projector', 'orders.v1', '00000000-0000-4000-8000-000000000001', 1);
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at, keys)
SELECT 2, 0, gen_random_uuid(), 7, 8, 'b', -1, 3, 1, 0, timestamptz '2026-11-23 08:00Z', keys FROM idem_ledger WHERE seq = 3`)
	key := record.EventKey{Hash: [16]byte(bytes.Repeat([]byte{0xcd}, 16)), Here: true}
	a, err := operate.FindKey(t.Context(), db, projector.Consumer, projector.Topic, -1, key)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "verdict", a.Verdict, operate.Applied)
	says(t, a.Because, "ledger row 0 of orders.v1/1 applied it: offset 7", "; ledger row 3 of orders.v1/0 applied it: offset 15", ", too: copies: same_partition does not hold")
}

// A key of fields is looked for in what a letter keeps of the record: whole values of a JSON
// payload, or the record key.
func TestLetterOfAKeyOfFields(t *testing.T) {
	db := ledgers(t)
	value := record.Append(nil, &wire.Message{
		Key: []byte("order-7"), Value: []byte(`{"payment": {"id": 4711}, "note": "order-71"}`),
		Headers: []wire.Header{{Name: "tenant", Value: []byte("north")}, {Name: "none"}},
	})
	if _, err := db.Exec(t.Context(), `INSERT INTO idem_dead_letter (stream, offs, seq, reason, event, record, state) VALUES (1, 13, 7, 'handler: Paid: no', 'Paid', $1, 'd')`, value); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		event, order, id string
		headers          map[string]string
		verdict          operate.Verdict
	}{
		{"Paid", "order-7", "4711", nil, operate.Dead},
		{"Paid", "order-7", "471", nil, operate.Unknown},
		{"Refunded", "order-7", "4711", nil, operate.Unknown},
		{"Paid", "order-7", "4711", map[string]string{"tenant": "north"}, operate.Dead},
		{"Paid", "order-7", "4711", map[string]string{"tenant": "south"}, operate.Unknown},
		{"Paid", "order-7", "4711", map[string]string{"region": ""}, operate.Unknown},
		{"Paid", "order-8", "4711", map[string]string{"tenant": "north"}, operate.Unknown},
	} {
		key := record.EventKey{Event: c.event, Here: true, Fields: map[string]string{"order": c.order, "id": c.id}, Headers: c.headers}
		a, err := operate.FindKey(t.Context(), db, projector.Consumer, projector.Topic, -1, key)
		if err != nil {
			t.Fatal(err)
		}
		want(t, c.event+" "+c.order+" "+c.id, a.Verdict, c.verdict)
	}
}

// The letter of a key is found by an index however many letters are newer: if it has the key, or
// if a part of the key is its record key. Otherwise letters are searched, the newest of each
// partition first, for a limited time, and the answer says how many were. An open letter comes
// before a newer one that is closed.
func TestLetterOfAKeyAmongMany(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, `INSERT INTO idem_dead_letter (stream, offs, seq, reason, event, state) SELECT 1, n, 7, 'handler: Paid: no', 'Paid', 'd' FROM generate_series(100, 5200) n`)
	letter := func(offset int, state, order, id string, key *wire.UUID) {
		t.Helper()
		value := record.Append(nil, &wire.Message{Key: []byte(order), Value: []byte(`{"id": "` + id + `"}`)})
		if _, err := db.Exec(t.Context(), `INSERT INTO idem_dead_letter (stream, offs, seq, reason, event, record, state, order_key, key) VALUES (1, $1, 7, 'handler: Paid: no', 'Paid', $2, $3, $4, $5)`,
			offset, value, state, record.OrderKey([]byte(order)), key); err != nil {
			t.Fatal(err)
		}
	}
	letter(1, "d", "a", "50%", nil)
	letter(2, "d", "a", "50_", nil)
	letter(3, "x", "a", "effect", &wire.UUID{7})
	letter(5300, "x", "a", "50%", nil)
	find := func(key record.EventKey) operate.Answer {
		t.Helper()
		key.Event, key.Here = "Paid", true
		a, err := operate.FindKey(t.Context(), db, projector.Consumer, projector.Topic, -1, key)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	id := func(value string) record.EventKey { return record.EventKey{Fields: map[string]string{"id": value}} }
	says(t, find(id("50%")).Because, "offset 1 of")
	says(t, find(id("50_")).Because, "offset 2 of")
	says(t, find(id("none")).Because, "earlier events are not known")
	defer operate.SearchOnce()()
	says(t, find(id("50%")).Because, "offset 5300 of")
	says(t, find(id("50_")).Because, "earlier events are not known; it may be an older dead letter: only the newest 5000 were searched")
	says(t, find(record.EventKey{Fields: map[string]string{"id": "50_", "order": "a"}}).Because, "offset 2 of")
	says(t, find(record.EventKey{Hash: wire.UUID{7}}).Because, "offset 3 of")
}

// A row names the offsets that it covers, and they are those between its positions.
func TestARowNamesItsOffsets(t *testing.T) {
	letter := int64(7)
	for _, c := range []struct {
		row  operate.Row
		want string
	}{
		{operate.Row{From: 5, To: 5}, "no offset"},
		{operate.Row{From: 5, To: 6}, "offset 5"},
		{operate.Row{From: 5, To: 7}, "offsets 5 to 6"},
		{operate.Row{From: 5, To: 5, Letter: &letter, RowHead: operate.RowHead{Info: "replayed by ann: ok"}}, "offset 7, a dead letter that was replayed"},
	} {
		want(t, fmt.Sprintf("%+v", c.row), c.row.Span(), c.want)
	}
}
