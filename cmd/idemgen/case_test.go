package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A frame is refused until somebody says in it what must be there, and then it is a case.
func TestFrameOfACaseIsRefusedUntilItIsFilled(t *testing.T) {
	module(t, nil)
	must(t, "init")
	if out := must(t, "case", "placed"); out != "create testdata/cases/placed.yaml\n" {
		t.Error(out)
	}
	refused(t, "testdata/cases/placed.yaml:", "generate")
	filled(t, "testdata/cases/placed.yaml")
	must(t, "generate")
}

// filled takes the comments in a frame for what the case says. They are about the sample.
func filled(t *testing.T, name string) {
	t.Helper()
	text := strings.ReplaceAll(read(t, name), "\n#  ", "\n  ")
	for _, left := range []string{"    result: {", "  payments: ", "  dead_letters: ", "  calls: "} {
		before, line, _ := strings.Cut(text, left)
		_, after, _ := strings.Cut(line, "\n")
		text = before + after
	}
	write(t, name, text)
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
