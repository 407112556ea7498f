package spec

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

// found is what generate --json and check --json print.
type found struct {
	Diagnostics []struct {
		File, Code, Message, Hint string
		Line, Column              int
	}
	Changes []struct{ Op, Path, Diff string }
	Error   string
}

// With --json the problems of a spec stand on stdout with their places, and not on stderr.
func TestProblemsAsJSON(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": strings.Replace(spec, "order_id: uuid\n", "order_id: uuuid\n", 1)})
	for _, verb := range []string{"check", "generate"} {
		code, stdout, stderr := run(t, verb, "--json")
		if code != trouble || stderr != "" {
			t.Errorf("%s: exit code %d\n%s", verb, code, stderr)
		}
		var got found
		commandtest.Parse(t, stdout, &got)
		if got.Error == "" || len(got.Diagnostics) == 0 || got.Changes == nil || len(got.Changes) > 0 {
			t.Fatalf("%s: %s", verb, stdout)
		}
		d := got.Diagnostics[0]
		if d.File != "idemgen.yaml" || d.Line != 9 || d.Column != 17 || d.Code[0] != 'E' || !strings.Contains(d.Message, "uuuid") {
			t.Errorf("%s: %+v", verb, d)
		}
	}
}

// check --json has the diffs that check prints, generate --json the files that it writes.
func TestChangesAsJSON(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": strings.Replace(spec, "    columns:\n", "    unique: [[customer_id]]\n    columns:\n", 1) + second})
	_, text, _ := run(t, "check")
	code, stdout, stderr := run(t, "check", "--json")
	var would found
	commandtest.Parse(t, stdout, &would)
	diffs := ""
	for _, c := range would.Changes {
		diffs += c.Diff
	}
	if code != different || would.Error != "" || diffs != text || !strings.Contains(stderr, "run idemgen generate") {
		t.Errorf("exit code %d\n%s\nwant\n%s", code, diffs, text)
	}
	var did found
	commandtest.Parse(t, must(t, "generate", "--json"), &did)
	if len(did.Changes) <= len(would.Changes) { // the starter files are written, too
		t.Errorf("%d changes, and check told %d", len(did.Changes), len(would.Changes))
	}
	for _, c := range did.Changes {
		read(t, c.Path)
	}
	if len(did.Diagnostics) != 0 {
		t.Errorf("%+v", did.Diagnostics)
	}
	if out := must(t, "check", "--json"); !strings.Contains(out, `"changes": []`) {
		t.Error(out)
	}
}

// A module whose go.mod is not complete is no obstacle: the generated code may be what it lacks.
func TestGenerateInAModuleThatIsNotTidy(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec, "hand.go": "package orders\n\nimport _ \"example.com/b\"\n"})
	goMod := "module example.com/orders\n\ngo 1.26\n\nrequire (\n\texample.com/b v0.0.0\n\tgithub.com/idemgen/idemgen v0.0.1\n)\n\n" +
		"replace example.com/b => ./b\n"
	write(t, "go.mod", goMod)
	write(t, "b/go.mod", "module example.com/b\n\ngo 1.26\n\nrequire github.com/idemgen/idemgen v0.0.2\n")
	write(t, "b/b.go", "package b\n")
	must(t, "generate")
	must(t, "check")
	if read(t, "go.mod") != goMod {
		t.Errorf("go.mod is now\n%s", read(t, "go.mod"))
	}
}
