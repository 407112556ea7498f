package till

import (
	"encoding/json"
	"strings"
	"testing"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/wire"
)

// record is a record of one type of event with a value.
func record(eventType, value string) idem.Message {
	return idem.Message{Topic: "payments.v1", Key: []byte("alice"), Value: []byte(value), Headers: []wire.Header{
		{Name: "event-type", Value: []byte(eventType)}, {Name: "paid-at", Value: []byte("1767225600000")},
	}}
}

const payment = `{"payment_id": "00000000-0000-4000-8000-000000000001", "total": 1.50, "rates": {"alice": 1}, "version": 1,
	"items": [{"sku": "a", "price": 1, "discounts": []}, {"sku": "b", "price": 2, "discounts": [3, 4]}]}`

// What a Go type refuses makes the record of a handler a decode error, which names the place and
// the type, and never the value.
func TestAValueThatItsGoTypeRefusesIsADecodeError(t *testing.T) {
	for _, c := range []struct{ old, new, where string }{
		{`"total": 1.50`, `"total": -1.50`, "total"},
		{`"rates"`, `"tip": -7, "rates"`, "tip"},
		{`"price": 2`, `"price": -7`, "items[1].price"},
		{`[3, 4]`, `[3, -7]`, "items[1].discounts[1]"},
		{`"alice": 1`, `"alice": -7`, "rates"},
	} {
		value := strings.Replace(payment, c.old, c.new, 1)
		if !json.Valid([]byte(value)) || value == payment {
			t.Fatal(value)
		}
		m := record("paid", value)
		want := "decode: Paid: " + c.where + " is refused by the Go type money.Amount"
		if _, err := DecodePaid(m); err == nil || err.Error() != want {
			t.Errorf("DecodePaid: got %v, want %s", err, want)
		}
		batch := wire.NewBatch(paymentsV1Topic(Service{}).NewPlan())
		batch.Reset(nil)
		if _, err := batch.Add(&m, &wire.FailurePolicy{}); err == nil || err.Error() != want {
			t.Errorf("the plan: got %v, want %s", err, want)
		}
		if steps, claims := batch.Finish(); len(steps)+len(claims) > 0 {
			t.Errorf("%s: %d steps and %d claims of a refused record", c.where, len(steps), len(claims))
		}
	}
}

// Steps take what the record says, so that no Go type has a say in an event without a handler.
func TestStepsDoNotAskGoTypes(t *testing.T) {
	m := record("tip_changed", `{"payment_id": "00000000-0000-4000-8000-000000000001", "total": -1.50, "version": 2}`)
	batch := wire.NewBatch(paymentsV1Topic(Service{}).NewPlan())
	batch.Reset(nil)
	if _, err := batch.Add(&m, &wire.FailurePolicy{}); err != nil {
		t.Error(err)
	}
}
