package resolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// stranger is a spec that is fine; each case changes one text of it.
const stranger = `version: 1
consumer: projector
package: orders
tables:
  orders:
    primary_key: [order_id]
    columns: {order_id: uuid, total: "numeric(12,2)", note: nullable text, version: bigint}
topics:
  orders.v1:
    record_key: {order_id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: id}, window: 8d}
    event_type: {header: type}
    events:
      OrderPlaced:
        description: An order.
        type: placed
        fields: {total: decimal, note: optional string, version: int64, price: float64, tags: list(string), by_name: map(string)}
        write:
          - upsert: orders
        handle: true
`

// strangers are what people get wrong in a spec: the text, what stands there instead, and where
// the first error is reported with which code.
var strangers = []struct{ name, old, now, want string }{
	{"an empty file", stranger, "", "1:1 E106"},
	{"comments only", stranger, "# nothing\n# yet\n", "1:1 E106"},
	{"a tab", "    primary_key", "\tprimary_key", "6:1 E101"},
	{"a byte that is no UTF-8", "An order.", "An \xff order.", "16:25 E103"},
	{"two documents", "topics:\n", "---\ntopics:\n", "8:1 E102"},
	{"a key twice", "package: orders\n", "package: orders\npackage: orders\n", "4:1 E107"},
	{"a key in other words", "idempotency_key:", "idempotencyKey:", "12:5 E104"},
	{"an anchor", "record_key: {order_id: uuid}", "record_key: &k {order_id: uuid}", "10:17 E102"},
	{"an alias", "record_key: {order_id: uuid}", "record_key: *k", "10:5 E102"},
	{"a merge key", "    event_type: {header: type}\n", "    <<: {event_type: {header: type}}\n", "13:5 E102"},
	{"a tag", "consumer: projector", "consumer: !!str projector", "2:11 E102"},
	{"a list for a map", "record_key: {order_id: uuid}", "record_key: [order_id]", "10:17 E106"},
	{"null where a value is required", "package: orders", "package: null", "3:10 E106"},
	{"an octal number", "version: 1\n", "version: 010\n", "1:10 E109"},
	{"a number with an underscore", "window: 8d}", "window: 8d}\n    on_failure: {retries: 1_000}", "13:27 E108"},
	{"a hexadecimal number", "window: 8d}", "window: 8d}\n    on_failure: {retries: 0x1F}", "13:27 E108"},
	{"an exponent", "window: 8d}", "window: 8d}\n    on_failure: {retries: 1e3}", "13:27 E108"},
	{"infinity", "window: 8d}", "window: 8d}\n    on_failure: {retries: .inf}", "13:27 E108"},
	{"no topic name", "  orders.v1:", "  \"\":", "9:3 E201"},
	{"a long topic name", "  orders.v1:", "  " + strings.Repeat("a", 250) + ":", "9:3 E201"},
	{"a topic of dots", "  orders.v1:", "  ..:", "9:3 E201"},
	{"a slash in a topic", "  orders.v1:", "  a/b:", "9:3 E201"},
	{"an event called func", "OrderPlaced:", "func:", "15:7 E201"},
	{"an event called _", "OrderPlaced:", "_:", "15:7 E201"},
	{"an event that begins with a digit", "OrderPlaced:", "1Order:", "15:7 E201"},
	{"a package called type", "package: orders", "package: type", "3:10 E215"},
	{"SQL in a table's name", "  orders:", "  'user\"; drop table x;--':", "5:3 E201"},
	{"a name of 64 bytes", "note: nullable text", strings.Repeat("n", 64) + ": nullable text", "7:55 E201"},
	{"an absolute folder", "topics:\n", "migrations: {dir: /etc}\ntopics:\n", "8:19 E201"},
	{"a key without fields", "source: {header: id}", "source: []", "12:31 E106"},
	{"a key on a missing field", "source: {header: id}", "source: payment_id", "12:31 E409"},
	{"a key on an optional field", "source: {header: id}", "source: note", "12:31 E310"},
	{"a key on a float", "source: {header: id}", "source: price", "12:31 E310"},
	{"a key on a list", "source: {header: id}", "source: tags", "12:31 E310"},
	{"a key on a map", "source: {header: id}", "source: by_name", "12:31 E310"},
	{"no window", "window: 8d", "window: 0", "12:53 E108"},
	{"a negative window", "window: 8d", "window: -1d", "12:53 E108"},
	{"a window beyond all numbers", "window: 8d", "window: 99999999999999999999d", "12:53 E708"},
	{"a window without unit", "window: 8d", "window: 8", "12:53 E108"},
	{"a window below keep", "window: 8d}", "window: 1d}\n    on_failure: {keep: 8d}", "12:53 E509"},
	{"no events in a batch", "topics:\n", "limits: {batch_events: 0}\ntopics:\n", "8:24 E708"},
	{"a billion events in a batch", "topics:\n", "limits: {batch_events: 1000000000}\ntopics:\n", "8:24 E708"},
	{"one partition, but no record key in the key", "window: 8d", "copies: same_partition, window: 8d", "12:53 E411"},
	{"an empty enum", "topics:\n", "types: {Site: {enum: []}}\ntopics:\n", "8:22 E312"},
	{"a text twice in an enum", "topics:\n", "types: {Site: {enum: [a, a]}}\ntopics:\n", "8:22 E312"},
	{"a variable", "consumer: projector", "consumer: ${NAME}", "2:11 E112"},
	{"a template", "consumer: projector", "consumer: '{{.Name}}'", "2:11 E112"},
	{"a newer version", "version: 1\n", "version: 2\n", "1:10 E109"},
	{"a password", "topics:\n", "dsn: postgres://u:secret@h/db\ntopics:\n", "8:1 E112"},
}

// What a stranger gets wrong is one clear error at its place, and no model.
func TestWhatStrangersGetWrongIsRefusedAtItsPlace(t *testing.T) {
	if got := refusal(stranger); got != "" {
		t.Fatalf("the spec itself: %s", got)
	}
	for _, c := range strangers {
		if !strings.Contains(stranger, c.old) {
			t.Errorf("%s: the spec has no %q", c.name, c.old)
		}
		if got := refusal(strings.Replace(stranger, c.old, c.now, 1)); got != c.want {
			t.Errorf("{%q, %q, %q, %q},", c.name, c.old, c.now, got)
		}
	}
}

// refusal is the place and the code of the first error.
func refusal(text string) string {
	spec, ds := syntax.Load("s", []byte(text))
	if spec != nil && ds.Errors() == 0 {
		_, more := Resolve(spec)
		ds.Append(more)
	}
	for _, p := range ds.Sorted() {
		return fmt.Sprintf("%d:%d %s", p.Pos.Line, p.Pos.Col, p.Code)
	}
	return ""
}
