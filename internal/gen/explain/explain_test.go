package explain

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/resolve"
)

const base = `version: 1
consumer: c
package: p
types:
  Line: {fields: {n: int32}}
tables:
  orders: {primary_key: [id], columns: {id: uuid, v: bigint, mail: text, by: text, at: timestamptz, lines: jsonb}}
  lines:
    primary_key: [id, n]
    columns: {id: uuid, n: integer}
    foreign_keys: [{columns: [id], references: orders, on_delete: cascade}]
topics:
  t.v1:
    record_key: {id: uuid}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 8d}
    events:
      E:
        type: e
        fields: {v: int64, mail: {type: string, path: contact.mail}, by: {type: string, header: by}, at: {type: timestamp, record: timestamp}, lines: list(Line)}
        write: [{upsert: orders}]
      Lined: {type: l, fields: {n: int32}, write: [{insert: lines}]}
`

// Each part of a spec has its sentence: the same spec, changed in one thing, says another one of
// its first event, or no such one.
func TestSentences(t *testing.T) {
	const (
		write  = "[{upsert: orders}]"
		key    = "idempotency_key: {source: {header: key}, window: 8d}"
		topic  = "    event_type: {header: type}\n"
		assume = "assume: [ordered]"
		event  = "        type: e\n"
		faster = "copies: same_partition would be faster: it keeps the keys in the ledger, not in a table."
	)
	for _, c := range []struct{ old, new, of, want string }{
		{"", "", "writes", "It writes orders (upsert by id)."},
		{"write: " + write, "handle: true", "writes", "Only its handler writes rows."},
		{"write: " + write, "effect: {timeout: 1s, if_interrupted: retry}", "writes", "It writes no rows."},
		{write, write + "\n        handle: true", "writes", "It writes orders (upsert by id); then its handler is called."},
		{write, "[{upsert: orders}, {upsert: lines, each: lines, set: {id: id, n: each.n}}]", "writes", "It writes orders (upsert by id) and lines (upsert by id, n; for each of lines)."},
		{write, "[{delete: orders}]\n        handle: true", "writes", "It writes orders (delete by id; foreign keys also change lines); then its handler is called."},
		{write, "[{delete: lines, where: {id: id}, many: true}, {delete: orders}]\n        handle: true", "writes", "It writes lines (delete by id; any number of rows) and orders (delete by id; foreign keys also change lines); then its handler is called."},

		{"", "", "identity", `Its idempotency key is header "key"; records with the same key are one event.`},
		{event, event + "        idempotency_key: {source: [{header: key}, mail, by, id, v], window: 8d}\n", "identity",
			`Its idempotency key is header "key", mail (payload at "contact.mail"), by (header "by"), id (record key) and v (payload); records with the same key are one event.`},
		{key, "idempotency_key: {source: {record: offset}}", "identity", "Its idempotency key is its topic, partition and offset."},

		{"", "", "duplicates", "A duplicate has no effect for at least 8d, in whichever partition it arrives."},
		{key, "idempotency_key: {source: {record: offset}}", "duplicates", "A record that Kafka delivers again has no second effect; one that the producer sends again counts as a new event."},
		{assume + "\n" + topic + "    " + key, "assume: [ordered, unique]\n" + topic + "    idempotency_key: {source: {record: offset}}", "duplicates",
			"A record that Kafka delivers again has no second effect; assume: [unique] promises that the producer sends each event only once."},
		{key, "idempotency_key: {source: [{header: key}, id], window: 8d, copies: same_partition}", "duplicates",
			"A duplicate in the same partition has no effect for at least 8d; in another partition it would take effect again."},

		{"", "", "conflict", "A record with a known key but another by, id, lines, mail or v is a conflict, and becomes a dead letter."},
		{event, event + "        idempotency_key: {source: v, window: 8d}\n", "conflict", "A record with a known key but another by, id, lines or mail is a conflict, and becomes a dead letter."},
		{event, event + "        idempotency_key: {source: v, window: 8d, compare: nothing}\n", "conflict", "Every record with a known key is a duplicate: the content is not compared."},
		{event, event + "        idempotency_key: {source: v, window: 8d, compare: [v]}\n", "conflict", ""},
		{key, "idempotency_key: {source: {record: offset}}", "conflict", ""},
		{topic, topic + "    on_failure: {give_up: stop}\n", "conflict", "A record with a known key but another by, id, lines, mail or v is a conflict, and halts its partition."},

		{"", "", "order", "It takes effect in the order of its partition, which has all records with the same id (assume: [ordered])."},
		{assume + " & " + write, "name: [a, b]\n    " + assume + " & [{upsert: orders, if_newer: v}]", "order", "It takes effect in the order of its partition, which has all records with the same id (assume: [ordered]); there is no order across its topics."},

		{"", "", "stale", ""},
		{write, "[{upsert: orders, if_newer: v}]", "stale", "It skips its upsert of orders if v is not greater than the stored one."},
		{write, "[{upsert: orders, if_newer: v}]\n        handle: true", "stale", "It skips its upsert of orders if v is not greater than the stored one; its handler is called anyway."},

		{"", "", "broken", "A record that does not decode, has no key, does not fit its columns or is rejected by Postgres becomes a dead letter, which stays open for 8d; the partition halts at more than 20 dead letters in a row."},
		{"write: " + write, "handle: true", "broken", "A record that does not decode or has no key becomes a dead letter, which stays open for 8d; the partition halts at more than 20 dead letters in a row."},
		{key, "idempotency_key: {source: {record: offset}}", "broken", "A record that does not decode, does not fit its columns or is rejected by Postgres becomes a dead letter, which stays open for 30d; the partition halts at more than 20 dead letters in a row."},
		{topic, topic + "    on_failure: {give_up: stop}\n", "broken", "A record that does not decode, has no key, does not fit its columns or is rejected by Postgres halts its partition."},
		{topic, topic + "    on_failure: {keep: 3d, dead_letter_payload: drop, park: record_key, stop_after: 1}\n", "broken", "A record that does not decode, has no key, does not fit its columns or is rejected by Postgres becomes a dead letter, which stays open for 3d and does not keep the record; later records with the same record key are parked behind it; the partition halts at more than 1 dead letter in a row."},

		{"", "", "failing", ""},
		{"write: " + write, "handle: true", "failing", "After an error, the handler is called up to 8 more times, not counting outages; then, or if the error is permanent, the record becomes a dead letter."},
		{"    events:\n      E:\n", "    on_failure: {retries: 1}\n    events:\n      E:\n        handle: true\n", "failing", "After an error, the handler is called up to 1 more time, not counting outages; then, or if the error is permanent, the record becomes a dead letter."},
		{"    events:\n      E:\n", "    on_failure: {retries: 0}\n    events:\n      E:\n        handle: true\n", "failing", "After an error other than an outage, the record becomes a dead letter immediately."},
		{"write: " + write, "effect: {timeout: 1s, if_interrupted: retry}", "failing", "After an error, the effect is called up to 8 more times, not counting outages; then, or if the error is permanent, the record becomes a dead letter."},
		{"write: " + write, "effect: {timeout: 1s, if_interrupted: dead_letter}", "failing", "After an error that says that the call did nothing, the effect is called up to 8 more times, not counting outages; then, or if the error is permanent, the record becomes a dead letter."},
		{"write: " + write, "effect: {timeout: 1s, if_interrupted: dead_letter}", "effect", "If nothing fails, the effect is called once, before the transaction. If the outcome of a call is unknown, the record becomes a dead letter, and an operator decides."},

		{"", "", "effect", ""},
		{"write: " + write, "handle: true", "effect", "What its handler does outside of Postgres may happen more than once."},
		{"write: " + write, "effect: {timeout: 1s, if_interrupted: retry}", "effect",
			"If nothing fails, the effect is called once, before the transaction. If the outcome of a call is unknown, the call is repeated, with the same key and a greater token."},
		{"write: " + write, "effect: {timeout: 1s, if_interrupted: retry, lock: {mails: mail}}", "effect",
			"If nothing fails, the effect is called once, before the transaction. If the outcome of a call is unknown, the call is repeated, with the same key and a greater token. Calls that lock the same value of mails never run at the same time."},

		{"", "", "faster", "If all duplicates have the same record key (assume: [copies_keep_record_key]), " + faster},
		{assume + " & type: l,", "assume: [ordered, copies_keep_record_key] & type: l, idempotency_key: {source: {header: key}, window: 8d, copies: same_partition},", "faster", "All its duplicates arrive in one partition, so " + faster},
		{key, "idempotency_key: {source: [{header: key}, id], window: 8d}", "faster", "All its duplicates arrive in one partition, so " + faster},
		{key, "idempotency_key: {source: {record: offset}}", "faster", ""},
		{assume + " & " + write, "name: [a, b]\n    " + assume + " & [{upsert: orders, if_newer: v}]", "faster", ""},

		{"", "", "unknown", "A record of a type that no event has becomes a dead letter; one without a value becomes a dead letter."},
		{topic, topic + "    skip: [unknown_type]\n    ignore: [a, b]\n", "unknown", "A record of type a or b is skipped; one of a type that no event has is skipped; one without a value becomes a dead letter."},
		{"      Lined:", "      Gone: {tombstone: true, handle: true}\n      Lined:", "unknown", "A record of a type that no event has becomes a dead letter; one without a value is Gone."},
		{topic, topic + "    skip: [tombstone]\n", "unknown", "A record of a type that no event has becomes a dead letter; one without a value is skipped."},
	} {
		text := base
		for i, old := range strings.Split(c.old, " & ") {
			text = strings.Replace(text, old, strings.Split(c.new, " & ")[i], 1)
		}
		service, err := resolve.Service("idemgen.yaml", []byte(text), nil)
		if err != nil {
			t.Errorf("%q for %q: %v", c.new, c.old, err)
			continue
		}
		topic := Service(service)[0]
		e := topic.Events[0]
		got := map[string]string{
			"writes": e.Writes, "identity": e.Identity, "duplicates": e.Duplicates, "conflict": e.Conflict, "order": e.Order, "stale": e.Stale,
			"broken": e.Broken, "failing": e.Failing, "effect": e.Effect, "faster": e.Faster, "unknown": topic.Unknown,
		}[c.of]
		if got != c.want {
			t.Errorf("%q for %q:\n%s\nwant\n%s", c.new, c.old, got, c.want)
		}
	}
}

// A topic that has only a tombstone takes no record with a value.
func TestOnlyATombstone(t *testing.T) {
	text := `version: 1
consumer: c
package: p
tables: {orders: {primary_key: [id], columns: {id: uuid}}}
topics:
  t.v1:
    record_key: {id: uuid}
    assume: [ordered]
    idempotency_key: {source: {record: offset}}
    events: {Gone: {tombstone: true, write: [{delete: orders}]}}
`
	service, err := resolve.Service("idemgen.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "A record with a value becomes a dead letter; one without a value is Gone."
	if got := Service(service)[0].Unknown; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
