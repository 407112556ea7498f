package orders

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Also with a key, a fingerprint, child rows and an optional field, a declarative event
// costs no allocation but the growth of the batch's own maps.
func TestDeclarativeEventAllocatesNothing(t *testing.T) {
	b := wire.NewBatch(ordersV1Topic(Service{}).NewPlan())
	m := idem.Message{
		Key: []byte("7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11"),
		Value: []byte(`{"order_id":"7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11","customer_id":"C-1","channel":"web","total":129.90,"placed_at":"2026-03-01T08:15:30Z",` +
			`"note":"at the \"door\"","items":[{"sku":"a","quantity":2,"price":49.95},{"sku":"b","quantity":1,"price":30.00}]}`),
		Headers: []idem.Header{{Name: "event-type", Value: []byte("order.placed")}, {Name: "Idempotency-Key", Value: []byte("k0000000")}},
	}
	policy := &wire.FailurePolicy{}
	add := func(n int) {
		b.Reset(nil)
		for i := range n {
			copy(m.Headers[1].Value[1:], []byte{byte('0' + i/1000%10), byte('0' + i/100%10), byte('0' + i/10%10), byte('0' + i%10)})
			copy(m.Value[13:], m.Headers[1].Value[1:5]) // another order each time
			copy(m.Key, m.Value[13:17])
			if outcome, err := b.Add(&m, policy); err != nil || outcome != wire.Applied {
				t.Fatal(outcome, err)
			}
		}
		b.Finish()
	}
	add(2000)
	few, many := testing.AllocsPerRun(20, func() { add(100) }), testing.AllocsPerRun(20, func() { add(1100) })
	if perEvent := (many - few) / 1000; perEvent > 0 {
		t.Errorf("%v allocations per event, want 0", perEvent)
	}
}
