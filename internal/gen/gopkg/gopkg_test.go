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
		"x/tool.go":     "//go:build ignore\n\npackage main\n\nfunc Tool() {}\n",
		"x/idem_gen.go": "// generated\npackage x\n\nfunc Generated() {}\n",
		"x/sub/sub.go":  "package sub\n\nfunc Sub() {}\n",
		"y/y.go":        "package y\n\nfunc Y() {}\n",
	})
	x, y := filepath.Join(dir, "x"), filepath.Join(dir, "y")
	got, err := Load(t.Context(), []string{x, y}, generated)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"A", "B", "Before", "Elsewhere", "F", "Service", "Service.OrderPaid", "newTestHandler"}
	if names := slices.Sorted(maps.Keys(got[x].Declared)); !slices.Equal(names, want) {
		t.Errorf("x declares %v, want %v", names, want)
	}
	if !got[x].Method("OrderPaid") || got[x].Method("Service") || got[x].Method("F") {
		t.Error("Method does not tell methods from functions")
	}
	if at := got[x].Declared["Service"]; filepath.Base(at.Filename) != "a.go" || at.Line != 5 || at.Column != 6 {
		t.Errorf("Service is at %v", at)
	}
	if names := slices.Sorted(maps.Keys(got[x].Clauses)); !slices.Equal(names, []string{"x"}) {
		t.Errorf("package clauses %v", names)
	}
	if names := slices.Sorted(maps.Keys(got[y].Declared)); !slices.Equal(names, []string{"Y"}) {
		t.Errorf("y declares %v", names)
	}
}

// Whatever is missing, and whatever the environment allows: no network, no change of go.mod.
func TestNothingIsFetched(t *testing.T) {
	goMod := "module   example.com/a\n" // -mod=mod would format it and add a version of Go
	dir := module(t, map[string]string{
		"go.mod": goMod, "a.go": "package a\n\nimport _ \"example.com/not/there\"\n\nfunc A() {}\n",
		"go.work": "go 1.26\n",
	})
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "http://127.0.0.1:1") // refuses
	got, err := Load(t.Context(), []string{dir}, generated)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := got[dir].Declared["A"]; !ok {
		t.Errorf("declared: %v", got[dir].Declared)
	}
	if content, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || string(content) != goMod {
		t.Errorf("go.mod is now %q, %v", content, err)
	}
}

func TestSeveralModules(t *testing.T) {
	dir := module(t, map[string]string{
		"a/go.mod": "module a\n", "a/a.go": "package a\n\nfunc A() {}\n",
		"b/go.mod": "module b\n", "b/b.go": "package b\n\nfunc B() {}\n",
	})
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	got, err := Load(t.Context(), []string{a, b}, generated)
	if err != nil {
		t.Fatal(err)
	}
	if len(got[a].Declared) != 1 || len(got[b].Declared) != 1 {
		t.Errorf("a declares %v, b %v", got[a].Declared, got[b].Declared)
	}
}

func TestNoModule(t *testing.T) {
	dir := module(t, map[string]string{"a.go": "package a\n"})
	_, err := Load(t.Context(), []string{dir}, generated)
	if err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("error %v", err)
	}
}

func TestModuleThatIsNotTidy(t *testing.T) {
	dir := module(t, map[string]string{
		"a/go.mod": "module example.com/a\n\ngo 1.26\n\nrequire (\n\texample.com/b v0.0.0\n\texample.com/c v0.0.1\n)\n\nreplace example.com/b => ../b\n\nreplace example.com/c => ../c\n",
		"a/a.go":   "package a\n\nimport _ \"example.com/b\"\n",
		"b/go.mod": "module example.com/b\n\ngo 1.26\n\nrequire example.com/c v0.0.2\n",
		"b/b.go":   "package b\n",
		"c/go.mod": "module example.com/c\n\ngo 1.26\n",
	})
	a := filepath.Join(dir, "a")
	_, err := Load(t.Context(), []string{a}, generated)
	if err == nil || !strings.Contains(err.Error(), "run go mod tidy first") {
		t.Errorf("error %v", err)
	}
}
