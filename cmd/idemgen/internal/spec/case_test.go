package spec

import (
	"strings"
	"testing"
)

// A draft is refused until somebody says in it what must be there, and then it is a case.
func TestDraftOfACaseIsRefusedUntilItSaysSomething(t *testing.T) {
	module(t, nil)
	must(t, "init")
	if out := must(t, "case", "placed"); out != "create testdata/cases/placed.yaml\n" {
		t.Error(out)
	}
	refused(t, "testdata/cases/placed.yaml:", "generate")
	draft := read(t, "testdata/cases/placed.yaml")
	before, then, _ := strings.Cut(draft, "then:\n")
	if !strings.Contains(before, "the Go handler of ") {
		t.Errorf("the draft does not say that the rest is the author's\n%s", draft)
	}
	write(t, "testdata/cases/placed.yaml", before+"then:\n"+strings.ReplaceAll("\n"+then, "\n#  ", "\n  ")[1:])
	refused(t, "testdata/cases/placed.yaml:", "generate") // nobody filled in what the handler leaves
	write(t, "testdata/cases/placed.yaml", before+"then:\n  orders: 0\n")
	must(t, "generate")
	must(t, "case", "--event", "OrderPlaced", "another")
	if text := read(t, "testdata/cases/another.yaml"); !strings.Contains(text, "event-type: order.placed") || strings.Contains(text, "order.paid") {
		t.Error(text)
	}
	refused(t, `no event "Placed"; events here: OrderPaid, OrderPlaced`, "case", "--event", "Placed", "third")
}

// A case is a file of the team's: idemgen replaces none, and says what it can write.
func TestCaseIsRefused(t *testing.T) {
	module(t, nil)
	refused(t, "idemgen.yaml: no such spec; idemgen init writes a first one", "case", "one")
	must(t, "init")
	refused(t, "case takes the name of the new case", "case")
	refused(t, "testdata/cases/order_paid.yaml exists: idemgen case never replaces a file", "case", "order_paid")
	refused(t, `"OrderPaid" is not a valid name of a case`, "case", "OrderPaid")
}
