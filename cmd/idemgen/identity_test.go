package main

import (
	"strings"
	"testing"
)

const (
	again   = "W909: the identity of event \"OrderPlaced\" changed: a copy of an event that was applied before will be applied again"
	oneWay  = "idemgen.yaml: key definition 2 (was 1): roll out without going back: an older version of the service halts on partitions that this one has written\n"
	topicAt = "idemgen.yaml:18:5: "
	eventAt = "idemgen.yaml:21:7: "
)

// A change of the spec that makes known events new ones is told, once.
func TestIdentityChanges(t *testing.T) {
	for _, tc := range []struct{ old, new, at, hint string }{
		{"header: Idempotency-Key", "header: Request-Id", topicAt, `its source was [header "Idempotency-Key"] and is [header "Request-Id"]: keep the former source`},
		{"window: 8d}", "window: 8d, unique_per: topic}", topicAt, "its unique_per is another one: keep the former source and unique_per"},
		{"{source: {header: Idempotency-Key}, window: 8d}", "{source: order_id, window: 8d}", topicAt, "and is [field order_id uuid]: keep"},
		{"  orders.v1:", "  orders.v2:", eventAt, `its topic was "orders.v1": rename it back`},
	} {
		module(t, map[string]string{"idemgen.yaml": spec})
		must(t, "generate")
		edit(t, "idemgen.yaml", tc.old, tc.new)
		refused(t, tc.at+again, "generate", "-strict")
		refused(t, tc.hint, "check", "-strict")
		code, _, stderr := run(t, "generate")
		if code != done || !strings.Contains(stderr, tc.at+again) || !strings.Contains(stderr, oneWay) {
			t.Errorf("%s: exit code %d\n%s", tc.new, code, stderr)
		}
		if code, _, stderr := run(t, "generate", "-strict"); code != done || stderr != "" {
			t.Errorf("%s, a second time: exit code %d\n%s", tc.new, code, stderr)
		}
	}
}

func TestRenamedEvent(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	edit(t, "idemgen.yaml", "      OrderPlaced:", "      OrderMade:")
	refused(t, `idemgen.yaml:21:7: W909: the identity of event "OrderMade" changed`, "generate", "-strict")
	refused(t, `its name was "OrderPlaced": rename it back to avoid it`, "generate", "-strict")
}

// What tells two events of one key apart, or adds an event, changes no identity.
func TestSameIdentity(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	edit(t, "idemgen.yaml", "total: decimal}", "total: {type: decimal, path: sum}}")
	code, _, stderr := run(t, "generate", "-strict")
	if code != done || stderr != oneWay {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	write(t, "idemgen.yaml", read(t, "idemgen.yaml")+`      OrderShipped:
        type: order.shipped
        fields: {order_id: uuid}
        write: [{update: orders, set: {status: {value: shipped}}}]
`)
	if code, _, stderr := run(t, "generate", "-strict"); code != done || stderr != "" {
		t.Errorf("a new event: exit code %d, stderr %q", code, stderr)
	}
}
