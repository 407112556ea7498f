package architecture

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vocabulary are the packages that most others import; the table does not repeat them.
var vocabulary = []string{"hook", "idemtype", "halt", "wire"}

// rig is what the tests of the runtime's packages share.
const rig = "runtime/internal/rig"

// Only tests import what the tests of the runtime's packages share.
func TestOnlyTestsImportTheRig(t *testing.T) {
	tested := 0
	for _, p := range packages(t) {
		if slices.Contains(p.own(), rig) {
			t.Errorf("%s must not import %s", p.name(), rig)
		}
		if slices.Contains(p.XTestImports, module+"/"+rig) {
			tested++
		}
	}
	if tested == 0 {
		t.Errorf("no test imports %s", rig)
	}
}

// rooms are the packages of the runtime that its picture shows, by their short names, and what
// each imports of the module.
func rooms(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, p := range packages(t) {
		if !ofTheRuntime(p.name()) || strings.Contains(p.name(), "/idemtest") || p.name() == rig {
			continue
		}
		var imports []string
		for _, of := range p.own() {
			if ofTheRuntime(of) {
				imports = append(imports, roomName(of))
			}
		}
		slices.Sort(imports)
		all[roomName(p.name())] = imports
	}
	return all
}

// ofTheRuntime reports whether a package is the runtime's: internal has what scripts need, too.
func ofTheRuntime(name string) bool {
	if within(name, "internal/gen") || within(name, "internal/proof") || within(name, "internal/kit") {
		return false
	}
	return within(name, "runtime") || within(name, "internal")
}

func roomName(pkg string) string {
	return path.Base(pkg)
}

// pictureOf is the drawing below the heading of a page.
func pictureOf(t *testing.T, text string) []string {
	t.Helper()
	_, text, found := strings.Cut(text, "## The runtime's packages\n```\n")
	picture, _, closed := strings.Cut(text, "\n```")
	if !found || !closed {
		t.Fatal("docs/design.md has no picture of the runtime's packages")
	}
	return strings.Split(picture, "\n")
}

// The picture of the runtime shows all of its packages, and each imports those of lower lines.
func TestThePictureOfTheRuntimeIsTheCode(t *testing.T) {
	all, line := rooms(t), map[string]int{}
	for n, text := range pictureOf(t, read(t, pagesOfPlaces[0])) {
		const names = 27 // the column
		for _, name := range regexp.MustCompile(`[a-z]+`).FindAllString(text[min(names, len(text)):], -1) {
			if _, ok := all[name]; ok {
				line[name] = n
			}
		}
	}
	for name, imports := range all {
		at, shown := line[name]
		if !shown {
			t.Errorf("the picture does not show %s", name)
		}
		for _, of := range imports {
			if line[of] <= at {
				t.Errorf("%s imports %s, which the picture does not show below it", name, of)
			}
		}
	}
}

var roomRow = regexp.MustCompile("(?m)^\\| `([a-z/]+)`[^|]*\\|[^|]*\\| ([a-z, ]+) \\|$")

// The table of the runtime's packages names what each imports.
func TestTheTableOfTheRuntimeNamesItsImports(t *testing.T) {
	all := rooms(t)
	_, text, _ := strings.Cut(read(t, pagesOfPlaces[0]), "## The runtime's packages")
	text, _, _ = strings.Cut(text, "### The path of a record")
	found := roomRow.FindAllStringSubmatch(text, -1)
	if len(found) < 20 {
		t.Fatalf("%d rows only", len(found))
	}
	for _, m := range found {
		name := roomName(m[1])
		want := all[name]
		if !slices.Contains(vocabulary, name) {
			want = slices.DeleteFunc(slices.Clone(want), func(of string) bool { return slices.Contains(vocabulary, of) })
		}
		says := strings.Join(want, ", ")
		if says == "" {
			says = "nothing"
		}
		if m[2] != says {
			t.Errorf("%s imports %s; docs/design.md says %s", name, says, m[2])
		}
	}
}
