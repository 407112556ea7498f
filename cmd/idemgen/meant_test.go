package main

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

const meantSpec = `version: 1
consumer: shop
package: shop
examples: examples.json
tables:
  orders: {primary_key: [order_id], columns: {order_id: uuid}}
topics:
  orders.v1:
    event_type: {header: event-type}
    idempotency_key: {source: {header: event-id}, window: 8d}
    events:
      OrderPlaced: {type: order.placed, fields: {order_id: uuid}, write: [{insert: orders}]}
      OrderPaid: {type: order.paid, fields: {order_id: uuid}, effect: {if_interrupted: retry}}
`

// Wherever a name of an event, a type, a topic or a table is misspelled, the one that was meant is
// suggested, in the same words.
func TestAMisspelledNameHasASuggestion(t *testing.T) {
	const (
		event = `did you mean "OrderPaid"?`
		typ   = `did you mean "order.placed"?`
		topic = `did you mean "orders.v1"?`
		table = `did you mean "orders"?`
	)
	db := idemtest.DB(t)
	idemtest.Exec(t, db, `CREATE TABLE orders (order_id uuid PRIMARY KEY)`)
	t.Setenv("DATABASE_URL", db.Config().ConnString())
	t.Setenv("KAFKA_BROKERS", idemtest.Kafka(t, map[string]int32{"orders.v1": 1}).Addr())
	record := func(topic, typ string) string {
		return "events: [{topic: " + topic + ", headers: {event-type: " + typ + `, event-id: a}, value: {order_id: 3f0c2a51-7f0e-4a37-9a42-5f0c7d1e2b01}}]
then: `
	}
	for _, tc := range []struct {
		spec, examples, scenario string // if not those in order
		args, want               string
	}{
		{args: "case paid --event OrderPiad", want: event},
		{args: "find orders.v1 --key event-id=a --event OrderPiad", want: event},
		{args: "find orders.v2 --key event-id=a", want: topic},
		{args: "adopt keys --from SELECT --event OrderPiad", want: event},
		{args: "init other --from-topic orders.v2", want: topic},
		{args: "init other --from-db --table ordesr", want: table},
		{args: "check", spec: "insert: order", want: table},
		{args: "check", scenario: record("orders.v2", "order.placed") + "{orders: 1}", want: topic},
		{args: "check", scenario: record("orders.v1", "order.palced") + "{orders: 1}", want: typ},
		{args: "check", scenario: record("orders.v1", "order.placed") + "{order: 1}", want: table},
		{args: "check", scenario: record("orders.v1", "order.placed") + "{calls: {OrderPiad: 1}}", want: event},
		{args: "check", examples: `[{"topic": "orders.v2"}]`, want: topic},
		{args: "check", examples: `[{"topic": "orders.v1", "headers": {"event-type": "order.palced"}, "value": {}}]`, want: typ},
	} {
		files := map[string]string{"idemgen.yaml": meantSpec, "examples.json": "[]"}
		if tc.spec != "" {
			files["idemgen.yaml"] = strings.Replace(meantSpec, "insert: orders", tc.spec, 1)
		}
		if tc.examples != "" {
			files["examples.json"] = tc.examples
		}
		if tc.scenario != "" {
			files["testdata/cases/misspelled.yaml"] = tc.scenario
		}
		module(t, files)
		if code, stdout, stderr := run(t, strings.Fields(tc.args)...); code == done || !strings.Contains(stdout+stderr, tc.want) {
			t.Errorf("%+v: exit code %d; want %s in\n%s%s", tc, code, tc.want, stdout, stderr)
		}
	}
}
