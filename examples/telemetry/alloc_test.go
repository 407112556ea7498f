package telemetry

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A declarative event costs no allocation: it is decoded into reused memory and copied once,
// into the arrays that are sent.
func TestDeclarativeEventAllocatesNothing(t *testing.T) {
	b := wire.NewBatch(telemetryV1Topic().NewPlan())
	m := idem.Message{Value: []byte(`{"device_id":"d-1\u00e9","seq":7,"ts":1767225600512,"values":{"temperature":22.5,"humidity":61.25,"battery":87},"firmware":"2.14.1"}`)}
	policy := &wire.FailurePolicy{}
	add := func(n int) {
		b.Reset(nil)
		for range n {
			if _, err := b.Add(&m, policy); err != nil {
				t.Fatal(err)
			}
		}
		b.Finish()
	}
	add(2000) // the buffers grow to their size
	few, many := testing.AllocsPerRun(20, func() { add(100) }), testing.AllocsPerRun(20, func() { add(1100) })
	if perEvent := (many - few) / 1000; perEvent > 0 {
		t.Errorf("%v allocations per event, want 0", perEvent)
	}
}
