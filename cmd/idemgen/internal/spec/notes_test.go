package spec

import (
	"strings"
	"testing"
)

// go generate lists the files of a package before it runs anything, so it stumbles over
// one that is removed meanwhile.
func TestRemovedUnderGoGenerate(t *testing.T) {
	for _, file := range []string{"", "gen.go"} {
		module(t, map[string]string{"idemgen.yaml": spec + second})
		must(t, "generate")
		write(t, "idemgen.yaml", spec)
		t.Setenv("GOFILE", file)
		_, _, stderr := run(t, "generate")
		says := strings.Contains(stderr, `removed idem_returns_v1_gen.go: "go generate" may now say that it cannot open it; run it once more`+"\n")
		if says != (file != "") || strings.Contains(stderr, "expected.txt") {
			t.Errorf("GOFILE=%s:\n%s", file, stderr)
		}
	}
}

const third = `      OrderReplaced:
        fields: {order_id: uuid}
        handle: true
        type: replaced
`

// The set-up of tests stays when the last Go code goes, and then does not compile.
func TestASetUpWithoutGoCode(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec + second})
	must(t, "generate")
	write(t, "idemgen.yaml", spec)
	_, _, stderr := run(t, "generate")
	if !strings.Contains(stderr, "idem_setup_test.go:") || !strings.Contains(stderr, ": newTestHandler returns a Handler, and no event has Go code: delete the function") {
		t.Error(stderr)
	}
}

// Methods that a handler of the team's own lacks are printed as text that completes it.
func TestMissingMethods(t *testing.T) {
	handled := strings.Replace(second, "    events:\n", "    event_type: {header: t}\n    events:\n", 1)
	handled = strings.Replace(handled, "OrderReturned:\n", "OrderReturned:\n        type: returned\n", 1)
	module(t, map[string]string{"idemgen.yaml": spec + handled})
	if _, _, stderr := run(t, "generate"); stderr != "handler.go is yours: write OrderReturned there; a case says what must come out (idemgen case)\n" {
		t.Errorf("at first: %q", stderr)
	}
	if _, _, stderr := run(t, "generate"); stderr != "" {
		t.Errorf("a second time: %q", stderr)
	}
	for _, receiver := range []string{"Service", "Mine"} {
		write(t, "idemgen.yaml", spec+handled)
		must(t, "generate")
		write(t, "handler.go", strings.ReplaceAll(read(t, "handler.go"), "Service", receiver))
		write(t, "idem_setup_test.go", strings.ReplaceAll(read(t, "idem_setup_test.go"), "Service", receiver))
		write(t, "idemgen.yaml", spec+handled+third)
		code, _, stderr := run(t, "generate")
		intro, method, _ := strings.Cut(stderr, "\n\n")
		if code != done || intro != receiver+` has no method for event "OrderReplaced"; to paste beside the others:` {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		write(t, "handler.go", read(t, "handler.go")+"\n"+method+"\nvar _ Handler = "+receiver+"{}\n")
		compiles(t)
		if _, _, stderr := run(t, "generate"); stderr != "" {
			t.Errorf("pasted: %q", stderr)
		}
		write(t, "handler.go", strings.ReplaceAll(strings.Split(read(t, "handler.go"), "\n"+method)[0], receiver, "Service"))
	}
}
