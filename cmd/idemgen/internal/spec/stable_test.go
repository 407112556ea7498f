package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// code returns the generated Go files of the working directory but for the tests, whose
// records are planned anew whenever the spec changes.
func code(t *testing.T) map[string][]string {
	t.Helper()
	names, err := filepath.Glob("idem_*gen.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files (%v)", len(names), err)
	}
	files := map[string][]string{}
	for _, name := range names {
		for line := range strings.Lines(read(t, name)) {
			files[name] = append(files[name], strings.Join(strings.Fields(line), " ")) // gofmt aligns columns
		}
	}
	return files
}

// lost returns the first line of old that now does not hold in the same order, or "".
func lost(old, now []string) string {
	for _, line := range old {
		i := slices.Index(now, line)
		if i < 0 {
			return line
		}
		now = now[i+1:]
	}
	return ""
}

// Whatever is added to a spec, the code of what stands there already keeps every line: no
// constant, field or comment is named or written after its neighbours.
func TestWhatIsAddedOnlyAddsLines(t *testing.T) {
	const event = `      OrderCancelled:
        type: order.cancelled
        write:
          - update: orders
            set: {status: {value: cancelled}}
          - insert: returned
            set: {reason: {value: cancelled}}
`
	const table = "  returned:\n    primary_key: [order_id]\n    columns: {order_id: uuid, reason: text}\n"
	const topic = `  returns.v1:
    record_key: {order_id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: Idempotency-Key}, window: 8d}
    events:
      OrderReturned:
        write:
          - insert: returned
            set: {reason: {value: returned}}
`
	const last = "          - insert: returned\n            set: {reason: {value: paid}}\n"
	base := strings.Replace(spec, "\ntopics:", table+"\ntopics:", 1) + last
	for name, added := range map[string]struct{ old, new string }{
		"a step":              {last, last + "          - update: orders\n            where: {order_id: order_id}\n            set: {customer_id: {value: nobody}}\n"},
		"a step in front":     {"          - upsert: orders\n", "          - insert: returned\n            set: {reason: {value: placed}}\n          - upsert: orders\n"},
		"an event at the end": {last, last + event},
		"an event in front":   {"      OrderPlaced:\n", event + "      OrderPlaced:\n"},
		"a topic at the end":  {last, last + topic},
		"a topic in front":    {"  orders.v1:\n", topic + "  orders.v1:\n"},
	} {
		t.Run(name, func(t *testing.T) {
			module(t, map[string]string{"idemgen.yaml": base})
			must(t, "generate")
			before := code(t)
			edit(t, "idemgen.yaml", added.old, added.new)
			must(t, "generate")
			after := code(t)
			for name, old := range before {
				if line := lost(old, after[name]); line != "" {
					t.Errorf("%s lost, moved or changed %q", name, line)
				}
			}
		})
	}
}

// A policy that an event states is in the code of the event, also if it says what holds
// without it.
func TestWhatAnEventStatesStandsInItsCode(t *testing.T) {
	for _, window := range []string{"29d", "30d", "31d"} {
		module(t, map[string]string{"idemgen.yaml": spec})
		edit(t, "idemgen.yaml", "    idempotency_key: {source: {header: Idempotency-Key}, window: 8d}\n", "")
		for _, event := range []string{"order.placed", "order.paid"} {
			edit(t, "idemgen.yaml", "        type: "+event+"\n", "        type: "+event+"\n        idempotency_key: {source: {header: Idempotency-Key}, window: "+window+"}\n")
		}
		must(t, "generate")
		text := read(t, "idem_orders_v1_gen.go")
		for _, want := range []string{"OnFailure: &orderPlacedPolicy,\n", "OnFailure: &orderPaidPolicy,\n", "are detected for at least " + window + ".\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("window %s: no line with %q", window, want)
			}
		}
		if err := os.Remove("idemgen.yaml"); err != nil {
			t.Fatal(err)
		}
	}
}
