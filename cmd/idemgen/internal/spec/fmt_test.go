package spec

import (
	"strings"
	"testing"
)

// Specs and cases are laid out, in place or not, and one that cannot be read stays as it is.
func TestFmt(t *testing.T) {
	module(t, nil)
	must(t, "init")
	if out := must(t, "fmt", "--check"); out != "" {
		t.Errorf("init does not lay out: %s", out)
	}
	const file = "testdata/cases/order_paid.yaml"
	tidy := read(t, file)
	write(t, file, strings.ReplaceAll(tidy, "{event-type: ", "{ event-type:  "))
	if code, out, _ := run(t, "fmt", "--check"); code != different || out != file+"\n" || read(t, file) == tidy {
		t.Errorf("exit code %d, %s", code, out)
	}
	if out := must(t, "fmt"); out != file+"\n" || read(t, file) != tidy {
		t.Errorf("%s\n%s", out, read(t, file))
	}
	write(t, "idemgen.yaml", "version: 1\n\n\n  consumer: a\n")
	refused(t, "idemgen.yaml:4:", "fmt")
	if got := read(t, "idemgen.yaml"); got != "version: 1\n\n\n  consumer: a\n" {
		t.Errorf("%q", got)
	}
}
