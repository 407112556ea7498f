package spec

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestInit(t *testing.T) {
	module(t, nil)
	code, stdout, stderr := run(t, "init")
	if code != done {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for _, name := range []string{"idemgen.yaml", "gen.go", "handler.go", "testdata/cases/order_paid.yaml", "cmd/orders/main.go", "idem_setup_test.go", ".gitattributes", "idem_gen.go"} {
		if !strings.Contains(stdout, "create "+name+"\n") {
			t.Errorf("%s is not among\n%s", name, stdout)
		}
		read(t, name)
	}
	for _, want := range []string{
		"\n  go get -tool github.com/idemgen/idemgen/cmd/idemgen\n  go mod tidy\n  go test ",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no line %q in\n%s", want, stderr)
		}
	}
	must(t, "check")
	if text := read(t, "handler.go"); strings.Contains(text, "ErrNotImplemented") {
		t.Errorf("the handler of the sample is not written:\n%s", text)
	}
	compiles(t)
}

func TestInitElsewhere(t *testing.T) {
	module(t, map[string]string{".gitattributes": "* text\n", "main.go": "package main\n"})
	refused(t, "main.go is in package main, ", "init")
	must(t, "init", "--consumer", "order-projector", "--package", "orders", "./internal/order-events")
	read(t, "internal/order-events/cmd/order-projector/main.go")
	if text := read(t, "internal/order-events/idemgen.yaml"); !strings.Contains(text, "\nconsumer: order-projector ") {
		t.Error(text)
	}
	refused(t, "internal/order-events/idemgen.yaml exists, and has the names of its consumer and package", "init", "--package", "x", "internal/order-events")
	write(t, "y/gen.go", "package y\n")
	refused(t, "y/gen.go exists; idemgen init replaces nothing", "init", "y")
}

// A name that is not allowed is refused as an argument: there is no spec yet to point into.
func TestInitRefusesNames(t *testing.T) {
	module(t, nil)
	refused(t, `there is no Kafka client "kafka": it is one of confluent, franz`, "init", "--client", "kafka")
	for want, args := range map[string]string{"E201": "--consumer Bad_Name x", "E215": "--package main x"} {
		refused(t, "("+want+")\n", append([]string{"init"}, strings.Fields(args)...)...)
		if _, _, stderr := run(t, append([]string{"init"}, strings.Fields(args)...)...); strings.Contains(stderr, "idemgen.yaml") {
			t.Error(stderr)
		}
	}
}

// In a folder with a spec of one's own, init writes what is missing around it, and no more.
func TestInitBesideASpec(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec + second, "handler.go": "package orders\n\n// Service is ours.\ntype Service struct{}\n"})
	must(t, "generate")
	own := read(t, "handler.go")
	code, stdout, stderr := run(t, "init")
	if code != done || stdout != "create gen.go\ncreate cmd/order-projector/main.go\ncreate .gitattributes\n" || !strings.Contains(stderr, "  go mod tidy\n") || strings.Contains(stderr, "sample") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if read(t, "handler.go") != own || read(t, "idemgen.yaml") != spec+second {
		t.Error("init changed a file that was there")
	}
	code, stdout, stderr = run(t, "init")
	if code != done || stdout != "" || strings.Contains(stderr, "add these lines") {
		t.Errorf("again: exit code %d\n%s%s", code, stdout, stderr)
	}
	edit(t, "idemgen.yaml", "order_id: uuid\n", "order_id: uuuid\n")
	refused(t, "idemgen.yaml:9:17: ", "init")
}

// Of a spec of one's own, init says what is to be written in the handler, as generate does; the
// sample has its handler.
func TestInitSaysWhatTheHandlerLacks(t *testing.T) {
	const lacks = "handler.go is yours: write OrderReturned there; a case says what must come out (idemgen case)\n"
	for want, files := range map[bool]map[string]string{true: {"idemgen.yaml": spec + second}, false: nil} {
		module(t, files)
		code, _, stderr := run(t, "init")
		if code != done || strings.Contains(stderr, lacks) != want || strings.Contains(stderr, "handler.go is yours") != want {
			t.Errorf("a spec of one's own %v: exit code %d\n%s", want, code, stderr)
		}
	}
}

func TestInitKeepsAttributes(t *testing.T) {
	module(t, map[string]string{".gitattributes": "* text\n"})
	code, _, stderr := run(t, "init")
	if code != done || !strings.Contains(stderr, "idem_gen.go text eol=lf linguist-generated=false\n") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if read(t, ".gitattributes") != "* text\n" {
		t.Error(".gitattributes was changed")
	}
}

// What init says of the module fits the module.
func TestInitSaysWhatIsMissing(t *testing.T) {
	for goMod, want := range map[string]bool{
		"tool github.com/idemgen/idemgen/cmd/idemgen\n":                            false,
		"tool (\n\tgithub.com/idemgen/idemgen/cmd/idemgen // pinned\n)\n":          false,
		"tool example.com/github.com/idemgen/idemgen/cmd/idemgen\n":                true,
		"require github.com/idemgen/idemgen v0.1.0\n":                              true,
		"// not yet: go get -tool github.com/idemgen/idemgen/cmd/idemgen@latest\n": true,
	} {
		module(t, nil)
		write(t, "go.mod", read(t, "go.mod")+goMod)
		_, _, stderr := run(t, "init", "sub")
		if strings.Contains(stderr, "go get -tool") != want || !strings.Contains(stderr, "\n  go mod tidy\n") {
			t.Errorf("with %q:\n%s", goMod, stderr)
		}
		if !strings.HasSuffix(read(t, "sub/gen.go"), "//go:generate go tool idemgen generate\n") || !strings.Contains(stderr, "\n  go tool idemgen dev\n") {
			t.Errorf("with %q:\n%s%s", goMod, read(t, "sub/gen.go"), stderr)
		}
	}
	edit(t, "sub/idemgen.yaml", "      total: numeric(12,2)\n", "")
	edit(t, "sub/idemgen.yaml", ", total: decimal", "")
	edit(t, "sub/testdata/cases/order_paid.yaml", "total: 30, ", "")
	refused(t, "if the migrations were never applied anywhere, delete sub/migrations and sub/idem.state.yaml and run generate again", "generate", "sub")
	if err := errors.Join(os.RemoveAll("sub/migrations"), os.Remove("sub/idem.state.yaml")); err != nil {
		t.Fatal(err)
	}
	must(t, "generate", "sub")
	must(t, "check", "sub")
}

// What makes the module complete also copies what is vendored: for the workspace, if there is one.
func TestInitSaysHowToVendor(t *testing.T) {
	for _, tc := range []struct {
		files      []string
		work, want string
	}{
		{[]string{"service/vendor/modules.txt"}, "", "go mod vendor"},
		{[]string{"go.work", "vendor/modules.txt"}, "", "go work vendor"},
		{[]string{"go.work"}, "", ""},
		{[]string{"go.work", "service/vendor/modules.txt"}, "", ""}, // which the go command ignores
		{[]string{"go.work", "service/vendor/modules.txt"}, "off", "go mod vendor"},
		{[]string{"elsewhere/go.work", "elsewhere/vendor/modules.txt"}, "elsewhere/go.work", "go work vendor"},
	} {
		module(t, nil)
		if err := os.Remove("go.mod"); err != nil {
			t.Fatal(err)
		}
		write(t, "service/go.mod", "module example.com/service\n")
		for _, name := range tc.files {
			write(t, name, "")
		}
		t.Setenv("GOWORK", tc.work)
		_, _, stderr := run(t, "init", "service")
		_, commands, _ := strings.Cut(stderr, "\n  go mod tidy\n")
		commands, _, _ = strings.Cut(commands, "  go test ")
		if strings.TrimSpace(commands) != tc.want {
			t.Errorf("with %q, GOWORK=%q: %q, want %q", tc.files, tc.work, commands, tc.want)
		}
	}
}

func TestInitWithoutModule(t *testing.T) {
	module(t, nil)
	write(t, "go.mod", "// empty\n")
	refused(t, "go.mod names no module", "init")
}

// Scaffolds are not written beside code of the team's own that does their work.
func TestScaffoldsAreSkipped(t *testing.T) {
	for _, by := range []string{
		"type Service struct{}\n",
		"type Mine struct{}\n\nfunc (*Mine) OrderReturned() { does not compile }\n",
	} {
		module(t, map[string]string{
			"idemgen.yaml": spec + second, "mine.go": "package orders\n\n" + by,
			"mine_test.go": "package orders\n\nfunc newTestHandler() {}\n\nfunc editTestLog() {}\n",
		})
		out := must(t, "generate")
		if strings.Contains(out, "handler.go") || strings.Contains(out, "setup") {
			t.Errorf("beside %q:\n%s", by, out)
		}
	}
}
