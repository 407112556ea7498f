package gopkg

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module writes a module into a temporary folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func generated(content []byte) bool { return strings.HasPrefix(string(content), "// generated") }

// load reads a folder, which must succeed.
func load(t *testing.T, dir string) *Package {
	t.Helper()
	p, err := Load(dir, generated)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLoad(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod": "module example.com/a\n\ngo 1.26\n",
		"x/a.go": `package x

import "example.com/not/there"

type Service struct{}

func (s *Service) OrderPaid() { undefined.F() }

const A, _ = 1, 2

var B = nothing

func init() {}

func F[T any]() {}
`,
		"x/broken.go":   "package x\n\nfunc Before() {}\n\nfunc (((\n",
		"x/a_test.go":   "package x\n\nfunc newTestHandler() {}\n",
		"x/ext_test.go": "package x_test\n\nfunc External() {}\n",
		"x/other_os.go": "//go:build plan9\n\npackage x\n\nfunc Elsewhere() {}\n",
		"x/_draft.go":   "package other\n\nfunc Draft() {}\n",
		"x/.hidden.go":  "package other\n\nfunc Hidden() {}\n",
		"x/tool.go":     "//go:build ignore\n\npackage main\n\nfunc Tool() {}\n",
		"x/idem_gen.go": "// generated\npackage x\n\nfunc Generated() {}\n",
		"x/sub/sub.go":  "package sub\n\nfunc Sub() {}\n",
		"y/y.go":        "package y\n\nfunc Y() {}\n",
	})
	x, y := filepath.Join(dir, "x"), filepath.Join(dir, "y")
	got := load(t, x)
	want := []string{"A", "B", "Before", "Elsewhere", "F", "Service", "Service.OrderPaid", "newTestHandler"}
	if names := slices.Sorted(maps.Keys(got.Declared)); !slices.Equal(names, want) {
		t.Errorf("x declares %v, want %v", names, want)
	}
	if !got.Method("OrderPaid") || got.Method("Service") || got.Method("F") {
		t.Error("Method does not tell methods from functions")
	}
	if at := got.Declared["Service"]; filepath.Base(at.Filename) != "a.go" || at.Line != 5 || at.Column != 6 {
		t.Errorf("Service is at %v", at)
	}
	if names := slices.Sorted(maps.Keys(got.Clauses)); !slices.Equal(names, []string{"x"}) {
		t.Errorf("package clauses %v", names)
	}
	if names := slices.Sorted(maps.Keys(load(t, y).Declared)); !slices.Equal(names, []string{"Y"}) {
		t.Errorf("y declares %v", names)
	}
}

// What the files declare does not depend on modules: neither on a workspace that leaves the module
// out, nor on a vendor folder that lacks packages, nor on a go.mod that is not complete.
func TestModulesDoNotMatter(t *testing.T) {
	dir := module(t, map[string]string{
		"go.work": "go 1.26\n", "a/vendor/modules.txt": "", "b/b.go": "package b\n",
		"a/go.mod": "module   example.com/a\n\ngo 1.26\n\nrequire (\n\texample.com/b v0.0.0\n\texample.com/absent v1.0.0\n)\n\nreplace example.com/b => ../b\n",
		"a/a.go":   "package a\n\nimport _ \"example.com/not/there\"\n\nfunc A() {}\n",
		"b/go.mod": "module example.com/b\n\ngo 1.26\n\nrequire example.com/c v0.0.2\n",
	})
	t.Setenv("GOFLAGS", "-mod=mod")
	a := filepath.Join(dir, "a")
	before, err := os.ReadFile(filepath.Join(a, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := load(t, a).Declared["A"]; !ok {
		t.Error("A is not declared")
	}
	if after, err := os.ReadFile(filepath.Join(a, "go.mod")); err != nil || string(after) != string(before) {
		t.Errorf("go.mod is now %q, %v", after, err)
	}
}

func TestNoModule(t *testing.T) {
	dir := module(t, map[string]string{"a.go": "package a\n", "generated/idem_gen.go": "// generated\npackage a\n"})
	if _, err := Load(dir, generated); err == nil || !strings.Contains(err.Error(), "no go.mod is found upwards: run go mod init first") {
		t.Errorf("error %v", err)
	}
	load(t, filepath.Join(dir, "generated"))
	load(t, filepath.Join(dir, "missing"))
}
