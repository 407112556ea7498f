package cases_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/proof/cases"
)

// A record of a case may have every member of its schema, and no other.
func TestRecordsOfACaseHaveTheMembersOfTheirSchema(t *testing.T) {
	const spec = `
version: 1
consumer: book
package: book
tables: {paid: {primary_key: [order_id], columns: {order_id: text, by: text}}}
types: {Line: {fields: {sku: string}}}
topics:
  orders.v1:
    payload: {encoding: ENCODING, schema: "SCHEMA"}
    idempotency_key: {source: order_id, window: 1d}
    events: {Paid: {fields: {order_id: string, by: {type: string, path: payer.name}, lines: list(Line)}, handle: true}}
`
	const proto = `syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Paid { string order_id = 1; Person payer = 2; repeated Line lines = 3; string note = 4; google.protobuf.Timestamp at = 5; map<string, Line> more = 6; oneof how { Card card = 7; string cash = 8; } optional int64 cents = 9; bytes raw = 10; }
message Person { string name = 1; string mail = 2; Person boss = 3; }
message Line { string sku = 1; string color = 2; }
message Card { string number = 1; }
`
	const avsc = `{"type": "record", "name": "Paid", "namespace": "shop", "fields": [
{"name": "order_id", "type": "string"},
{"name": "payer", "type": {"type": "record", "name": "Person", "fields": [{"name": "name", "type": "string"}, {"name": "mail", "type": ["null", "string"]}, {"name": "boss", "type": ["null", "Person"]}]}},
{"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}, {"name": "color", "type": ["null", "string"]}]}}},
{"name": "note", "type": ["null", "string"]},
{"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
{"name": "more", "type": ["null", {"type": "map", "values": "Line"}]},
{"name": "cents", "type": ["null", "long"]},
{"name": "raw", "type": ["null", "bytes"]}]}
`
	for _, format := range []struct{ encoding, schema, says string }{
		{"protobuf", "paid.proto#shop.Paid", "message"}, {"confluent_protobuf", "paid.proto#shop.Paid", "message"},
		{"avro", "paid.avsc", "record"}, {"confluent_avro", "paid.avsc", "record"},
	} {
		text := strings.NewReplacer("ENCODING", format.encoding, "SCHEMA", format.schema).Replace(spec)
		s := serviceOf(t, text, map[string]string{"paid.proto": proto, "paid.avsc": avsc})
		for more, want := range map[string]string{
			"payer: {name: Ada}, lines: [{sku: a}], note: 12":                        `"note":"12"`, // a text, as it is for a field that is read
			"payer: {name: Ada}, lines: [{sku: a}], at: 2026-01-31T12:00:00Z":        `"at":"2026-01-31T12:00:00Z"`,
			"payer: {name: Ada}, lines: [{sku: a}], cents: 12":                       `"cents":12`,
			"payer: {name: Ada}, lines: [{sku: a}], raw: AAEC":                       `"raw":"AAEC"`,
			"payer: {name: Ada}, lines: [{sku: a}], more: {x: {sku: 1, color: '2'}}": `"more":{"x":{"sku":"1","color":"2"}}`,
			"payer: {name: Ada, boss: {name: Bob, mail: 1}}, lines: []":              `"boss":{"name":"Bob","mail":"1"}`,
			"payer: {name: Ada}, lines: [{sku: a, color: 7}]":                        `"color":"7"`,
			"payer: {name: Ada}, lines: [], card: {number: 4}":                       `"card":{"number":"4"}`,
			"payer: {name: Ada}, lines: [], nots: 12":                                `E207 SAYS shop.Paid has no member "nots"`,
			"payer: {name: Ada}, lines: [], more: {x: {skv: 1}}":                     `E207 SAYS shop.Line has no member "skv"`,
			"payer: {name: Ada, boss: {name: Bob, boss: {named: Eve}}}, lines: []":   `E207 SAYS shop.Person has no member "named"`,
			"payer: {name: Ada}, lines: [{sku: a, colour: 7}]":                       `E207 SAYS shop.Line has no member "colour"`,
			"payer: {name: Ada}, lines: [], more: {x: {sku: {a: 1}}}":                "E153",
		} {
			if strings.Contains(more, "card") && format.says == "record" { // Avro has no oneof
				continue
			}
			var got string
			found := whole(s, "events:\n  - {topic: orders.v1, value: {order_id: o-1, "+more+"}}\nthen: {paid: 1}\n", func(c *cases.Case) { got = string(c.Records[0].Value) })
			for _, d := range found.Sorted() {
				got += d.Code + " " + d.Message + "\n"
			}
			if want = strings.Replace(want, "SAYS", format.says, 1); !strings.Contains(got, want) {
				t.Errorf("%s: %s:\n%s\nwant %s in it", format.encoding, more, got, want)
			}
		}
	}
}
