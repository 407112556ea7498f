package main

import (
	"os"
	"path/filepath"
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
	refused(t, `no event "Placed"; the spec has OrderPlaced, OrderPaid`, "case", "--event", "Placed", "third")
}

// A case is a file of the team's: idemgen replaces none, and says what it can write.
func TestCaseIsRefused(t *testing.T) {
	module(t, nil)
	refused(t, "idemgen.yaml: no such spec; idemgen init writes a first one", "case", "one")
	must(t, "init")
	refused(t, "case takes the name of the new case", "case")
	refused(t, "testdata/cases/order_paid.yaml exists; idemgen case replaces nothing", "case", "order_paid")
	refused(t, `"OrderPaid" is not a valid name of a case`, "case", "OrderPaid")
}

// What was generated for a case goes with it: check says so, and generate removes it.
func TestFilesOfACaseGoWithIt(t *testing.T) {
	module(t, nil)
	must(t, "init")
	if err := os.Remove("testdata/cases/order_paid.yaml"); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := run(t, "check"); code != different || !strings.Contains(out, "testdata/cases/idem_order_paid_log.jsonl") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	must(t, "generate")
	if left, err := filepath.Glob("testdata/cases/idem_order_paid_*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
