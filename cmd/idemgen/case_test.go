package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What Go code does only people know: its draft is refused until somebody says it. Meanwhile
// others can be drafted.
func TestDraftsOfGoCodeAreRefused(t *testing.T) {
	module(t, nil)
	must(t, "init")
	draft(t)
	must(t, "case", "again", "--event", "OrderPlaced")
	text := read(t, "testdata/cases/paid.yaml")
	start, rest, _ := strings.Cut(text, "draft: ")
	_, rest, _ = strings.Cut(rest, "\n")
	write(t, "testdata/cases/paid.yaml", start+rest)
	must(t, "generate", "--strict")
}

// draft drafts a case of the sample's Go code, which is refused.
func draft(t *testing.T) {
	t.Helper()
	code, out, stderr := run(t, "case", "paid", "--event", "OrderPaid")
	if code != done || out != "create testdata/cases/paid.yaml\n" || !strings.Contains(stderr, "testdata/cases/paid.yaml is a draft, and refused until it is whole") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	refused(t, "testdata/cases/paid.yaml:3:1: E155: the case is a draft", "generate")
	refused(t, "E155", "check")
}

// A case is a file of the team's: idemgen replaces none, and says what it can write.
func TestCaseIsRefused(t *testing.T) {
	module(t, nil)
	refused(t, "idemgen.yaml: no such spec; idemgen init writes a first one", "case", "one")
	must(t, "init")
	refused(t, "case takes the name of the new case", "case")
	refused(t, "testdata/cases/order_placed.yaml exists; idemgen case replaces nothing", "case", "order_placed")
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
