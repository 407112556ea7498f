package generator

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/oracle"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/seedlog"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

const shop = `version: 1
consumer: shop
package: shop
types:
  Channel: {enum: [web, app, phone]}
  Line: {fields: {sku: string, qty: int32}}
tables:
  orders: {primary_key: [id], columns: {id: uuid, channel: text, status: text, note: nullable text, ref: nullable text}}
  lines:
    primary_key: [id, sku]
    columns: {id: uuid, sku: text, qty: integer}
    foreign_keys: [{columns: [id], references: orders, on_delete: cascade}]
  payments:
    primary_key: [payment]
    columns: {payment: uuid, id: uuid, amount: numeric}
    foreign_keys: [{columns: [id], references: orders}]
topics:
  orders.v1:
    record_key: {id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: key}, window: 8d}
    event_type: {header: type}
    events:
      Placed:
        type: placed
        fields: {channel: Channel, note: optional string, lines: list(Line)}
        write: [{upsert: orders, leave: [ref], set: {status: {value: placed}}}, {upsert: lines, each: lines, set: {id: id}}]
      Paid: {type: paid, fields: {payment: uuid, amount: decimal}, write: [{insert: payments}, {update: orders, set: {status: {value: paid}}}]}
      Shipped: {type: shipped, write: [{update: orders, set: {status: {value: shipped}}}]}
      Erased: {tombstone: true, idempotency_key: {source: {record: offset}}, write: [{delete: payments, where: {id: id}, many: true}, {delete: orders}]}
`

const (
	noted    = "      Noted: {type: noted, fields: {note: string}, write: [{update: orders, set: {note: note}}]}\n"
	refunded = "      Refunded: {type: refunded, write: [{delete: payments, where: {id: id}, many: true}]}\n"
)

// A change of the spec changes the test data of the events that it changes, and adds lines. All
// others stay, in their order.
func TestAChangeOfTheSpecChangesTheTestDataOfItsEventsOnly(t *testing.T) {
	before := testLines(t, shop)
	for _, c := range []struct {
		name, old, new string
		event          string // whose lines may change; "" if none
		tables         []string
	}{
		{"an event at the end", "", refunded, "", nil},
		{"an event between others", "      Shipped:", noted + "      Shipped:", "", nil},
		{"an event at the beginning", "      Placed:", noted + "      Placed:", "", nil},
		{"a text of an enum", "[web, app, phone]", "[web, app, phone, shop]", "Placed", []string{"orders"}},
		{"a field", "lines: list(Line)}\n        write: [{upsert: orders, leave: [ref],", "lines: list(Line), ref: optional string}\n        write: [{upsert: orders,", "Placed", []string{"orders"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := shop + c.new
			if c.old != "" {
				spec = strings.Replace(shop, c.old, c.new, 1)
			}
			after := testLines(t, spec)
			if slices.Equal(before, after) {
				t.Fatal("nothing changed")
			}
			left := after
			gone := 0
			for _, line := range before {
				if at := slices.Index(left, line); at >= 0 {
					left = left[at+1:]
					continue
				}
				gone++
				table, _, _ := strings.Cut(line, ": ")
				if !strings.HasPrefix(line, `{"event":"`+c.event+`"`) && !slices.Contains(c.tables, table) {
					t.Errorf("gone: %s", line)
				}
			}
			t.Logf("%d lines, %d of them gone; %d lines afterwards", len(before), gone, len(after))
		})
	}
}

// testLines are the lines of a topic's test data: its log, then its rows behind their tables.
func testLines(t *testing.T, text string) []string {
	t.Helper()
	spec, problems := syntax.Load("idemgen.yaml", []byte(text))
	if problems.Errors() > 0 {
		t.Fatal(problems)
	}
	service, problems := resolve.Resolve(spec)
	if service == nil {
		t.Fatal(problems)
	}
	rows, log := seedlog.Log(service, service.Topics[0])
	data := newTestData(oracle.New(service), service, service.Topics[0], rows, log)
	lines := strings.Split(string(data.logLines()), "\n")
	table := ""
	for line := range strings.Lines(string(data.expected)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "table "); ok {
			table = name
			continue
		}
		lines = append(lines, table+": "+strings.TrimSpace(line))
	}
	return lines
}
