package architecture

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var packageRow = regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|")

// runtime/README.md names each public package of the runtime once. Its first table has those that
// every example links; what a spec brings in is what generated code imports.
func TestThePageOfTheRuntimeIsTheCode(t *testing.T) {
	sections := strings.Split(read(t, "../../runtime/README.md"), "\n## ")
	named := map[string]string{} // a heading by package
	for _, section := range sections[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		for _, m := range packageRow.FindAllStringSubmatch(text, -1) {
			if of := named[m[1]]; of != "" {
				t.Errorf("runtime/README.md names %s under %q and %q", m[1], of, heading)
			}
			named[m[1]] = heading
		}
	}
	everywhere, generated := map[string]bool{}, map[string]bool{} // linked by every example; imported by generated code
	examples := 0
	for _, p := range packages(t) {
		if !slices.Contains(p.GoFiles, "idem_gen.go") {
			continue
		}
		if !within(p.name(), "examples") {
			continue
		}
		if examples++; examples == 1 {
			for _, of := range p.Deps {
				everywhere[strings.TrimPrefix(of, module+"/")] = true
			}
		}
		for of := range everywhere {
			everywhere[of] = everywhere[of] && slices.Contains(p.Deps, module+"/"+of)
		}
	}
	if examples < 8 {
		t.Fatalf("%d generated examples only", examples)
	}
	for _, file := range glob(t, "../../testdata/golden/accepted/*/idem_*gen.go", "../../examples/*/idem_*gen.go") {
		for _, of := range fileImports(t, file) {
			generated[strings.TrimPrefix(of, module+"/")] = true
		}
	}
	for _, p := range packages(t) {
		name, inRuntime := strings.CutPrefix(p.name(), "runtime/")
		if !inRuntime || p.internal() {
			continue
		}
		heading := named[name]
		delete(named, name)
		clients := name == "confluent" || name == "franz" // of which each program has one
		switch every := heading == "Every service links"; {
		case heading == "":
			t.Errorf("runtime/README.md does not name %s", name)
		case every != (everywhere[p.name()] || clients):
			t.Errorf("runtime/README.md has %s under %q", name, heading)
		case heading == "Linked if the spec uses it" && !generated[p.name()]:
			t.Errorf("runtime/README.md has %s under %q, but no generated code imports it", name, heading)
		}
	}
	for name := range named {
		t.Errorf("runtime/README.md names %s, which does not exist", name)
	}
}
