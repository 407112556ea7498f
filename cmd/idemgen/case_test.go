package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The draft of a case is one that generate takes as it is, for every event, and that its test
// holds for the handlers that do nothing.
func TestCaseWritesADraftThatPasses(t *testing.T) {
	repo := repository(t)
	module(t, nil)
	must(t, "init")
	if first := read(t, "testdata/cases/order_paid.yaml"); !strings.Contains(first, "schema/idemgen.case.v1.schema.json\n") || !strings.Contains(first, "Go code, too, for OrderPaid") {
		t.Errorf("the first case:\n%s", first)
	}
	out := must(t, "case", "placed", "--event", "OrderPlaced")
	if !strings.Contains(out, "create testdata/cases/placed.yaml\n") {
		t.Error(out)
	}
	must(t, "check", "--strict")
	build(t, repo, "test", "-run", "TestCases", ".")
}

// A case is a file of the team's: idemgen replaces none, and says what it can write.
func TestCaseIsRefused(t *testing.T) {
	module(t, nil)
	refused(t, "idemgen.yaml: no such spec; idemgen init writes a first one", "case", "one")
	must(t, "init")
	refused(t, "case takes the name of the new case", "case")
	refused(t, "testdata/cases/order_paid.yaml exists; idemgen case replaces nothing", "case", "order_paid")
	refused(t, `"OrderPaid" is not a valid name of a case`, "case", "OrderPaid")
	refused(t, `idemgen.yaml has no event "OrderPayed"; did you mean "OrderPaid"?`, "case", "one", "--event", "OrderPayed")
	refused(t, `idemgen.yaml has no event "Moved"; events: OrderPlaced, OrderPaid`, "case", "one", "--event", "Moved")
	edit(t, "idemgen.yaml", "total: decimal", "total: decimel")
	if code, _, stderr := run(t, "case", "one"); code != trouble || !strings.Contains(stderr, "E208") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// What was generated for a case goes with it: check says so, and generate removes it.
func TestFilesOfACaseGoWithIt(t *testing.T) {
	module(t, nil)
	must(t, "init")
	must(t, "case", "placed", "--event", "OrderPlaced")
	if err := os.Remove("testdata/cases/placed.yaml"); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := run(t, "check"); code != different || !strings.Contains(out, "testdata/cases/idem_placed_log.jsonl") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	must(t, "generate")
	if left, err := filepath.Glob("testdata/cases/idem_placed_*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
