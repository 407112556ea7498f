package spec

import (
	"strings"
	"testing"
)

const (
	again  = "a duplicate of an event that was applied before will be applied again"
	oneWay = "idemgen.yaml: the identity of events has changed (see idemgen plan), so do not roll back after the rollout: an older version of the service halts on partitions that this one has written\n"
)

// A change of the spec that makes known events new ones is told, once.
func TestIdentityChanges(t *testing.T) {
	for _, tc := range []struct{ old, new, hint string }{
		{"header: Idempotency-Key", "header: Request-Id", `its source was [header "Idempotency-Key"] and is [header "Request-Id"]`},
		{"{source: {header: Idempotency-Key}, window: 8d}", "{source: order_id, window: 8d}", "and is [field order_id uuid]"},
		{"  orders.v1:", "  orders.v2:", `its topic was "orders.v1"`},
	} {
		module(t, map[string]string{"idemgen.yaml": spec})
		must(t, "generate")
		edit(t, "idemgen.yaml", tc.old, tc.new)
		breaks(t, spec, again, tc.hint)
		if code, _, stderr := run(t, "generate"); code != done || stderr != oneWay {
			t.Errorf("%s: exit code %d\n%s", tc.new, code, stderr)
		}
		if code, _, stderr := run(t, "generate"); code != done || stderr != "" {
			t.Errorf("%s, a second time: exit code %d\n%s", tc.new, code, stderr)
		}
	}
}

// breaks checks that plan says of a change what it breaks.
func breaks(t *testing.T, before string, want ...string) {
	t.Helper()
	write(t, "old.yaml", before)
	code, out, stderr := run(t, "plan", "old.yaml", "idemgen.yaml")
	for _, text := range want {
		if code != different || !strings.Contains(strings.ToLower(out), strings.ToLower(text)) {
			t.Errorf("exit code %d, want %q\n%s%s", code, text, out, stderr)
		}
	}
}

// A shorter window is told, once; a state of an older idemgen has none to compare with.
func TestShorterWindow(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	edit(t, "idemgen.yaml", "window: 8d", "window: 36h")
	breaks(t, spec, `duplicates older than the new window count as new events`, `is shorter: it was 8d and is 36h`)
}

// Another source does not hide what else of the key has changed.
func TestSourceAndWindowAreBothTold(t *testing.T) {
	for window, want := range map[string]string{
		"36h": `the window of events "OrderPlaced", "OrderPaid" is shorter: it was 8d and is 36h`,
		"9d":  "idempotency_key.window was `8d` and is `9d`. Keys are known for longer",
	} {
		module(t, map[string]string{"idemgen.yaml": spec})
		edit(t, "idemgen.yaml", "{source: {header: Idempotency-Key}, window: 8d}", "{source: {header: Request-Id}, window: "+window+"}")
		breaks(t, spec, again, `the identity of events "OrderPlaced", "OrderPaid" changed: its source was`, want)
	}
}

func TestRenamedEvent(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	edit(t, "idemgen.yaml", "      OrderPlaced:", "      OrderMade:")
	breaks(t, spec, `the identity of event "OrderMade" changed`, `its name was "OrderPlaced"`, `call it OrderPlaced again`)
}

// What tells two events of one key apart, or adds an event, changes no identity: nobody halts,
// and nothing is said.
func TestSameIdentity(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	edit(t, "idemgen.yaml", "window: 8d}", "window: 8d, compare: [order_id]}")
	code, _, stderr := run(t, "generate")
	if code != done || stderr != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	write(t, "idemgen.yaml", read(t, "idemgen.yaml")+`      OrderShipped:
        type: order.shipped
        fields: {order_id: uuid}
        write: [{update: orders, set: {status: {value: shipped}}}]
`)
	if code, _, stderr := run(t, "generate"); code != done || stderr != "" {
		t.Errorf("a new event: exit code %d, stderr %q", code, stderr)
	}
}
