package resolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// TestWorkGrowsWithTheNumberOfEvents: no event is compared with each other event. Memory stands
// for work, because it is the same on every machine.
func TestWorkGrowsWithTheNumberOfEvents(t *testing.T) {
	work := func(events int) float64 {
		var b strings.Builder
		b.WriteString("version: 1\nconsumer: c\npackage: c\ntables:\n  a: {primary_key: [id], columns: {id: text, n: bigint, x: text}}\n")
		b.WriteString("topics:\n  t:\n    idempotency_key: {source: {header: key}, window: 8d}\n    event_type: {header: type}\n    events:\n")
		for i := range events {
			fmt.Fprintf(&b, "      E%d: {type: e%d, fields: {id: string, n: int64, x: string}, write: [{upsert: a, if_newer: n}]}\n", i, i)
		}
		accept(t, "s", []byte(b.String()))
		spec, _ := syntax.Load("s", []byte(b.String()))
		return testing.AllocsPerRun(1, func() { Resolve(spec) })
	}
	if few, many := work(50), work(500); many > 12*few {
		t.Errorf("500 events take %.0f allocations, 50 take %.0f", many, few)
	}
}
