package gocode_test

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/gocode"
	"github.com/idemgen/idemgen/generator/model"
)

// TestFiles: a service has one file and one test file for itself and for each topic; all
// bear the generated marker and are formatted.
func TestFiles(t *testing.T) {
	want := map[string]string{
		"orders":    "idem_gen.go idem_orders_v1_gen.go idem_gen_test.go idem_orders_v1_gen_test.go",
		"telemetry": "idem_gen.go idem_telemetry_v1_gen.go idem_gen_test.go idem_telemetry_v1_gen_test.go",
	}
	for name, s := range golden(t) {
		var paths []string
		for _, f := range render(t, s) {
			paths = append(paths, f.Path)
			parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if !ast.IsGenerated(parsed) {
				t.Errorf("%s/%s lacks the marker", name, f.Path)
			}
			if again, err := format.Source(f.Content); err != nil || !bytes.Equal(again, f.Content) {
				t.Errorf("%s/%s is not formatted (%v)", name, f.Path, err)
			}
		}
		if got := strings.Join(paths, " "); want[name] != "" && got != want[name] {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestRendersEqual: twenty renders of twenty loads are the same bytes.
func TestRendersEqual(t *testing.T) {
	spec, err := os.ReadFile("../../testdata/golden/accepted/kitchen_sink/idemgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first := render(t, load(t, string(spec)))
	for range 19 {
		if !slices.EqualFunc(first, render(t, load(t, string(spec))), func(a, b gocode.File) bool {
			return a.Path == b.Path && bytes.Equal(a.Content, b.Content)
		}) {
			t.Fatal("two renders of one spec differ")
		}
	}
}

// TestTypeCheck: every rendered package compiles against the runtime, its tests included;
// what the service itself writes stands in for by setup.
func TestTypeCheck(t *testing.T) {
	exports := exportData(t)
	for name, s := range golden(t) {
		if len(s.GoTypes) > 0 {
			continue // it needs what the service itself declares; go vet compiles the golden package
		}
		t.Run(name, func(t *testing.T) { typeCheck(t, s, exports) })
	}
}

func typeCheck(t *testing.T, s *model.Service, exports map[string]string) {
	fset := token.NewFileSet()
	var files []*ast.File
	add := func(path string, src any) {
		f, err := parser.ParseFile(fset, path, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	handles := false
	for _, f := range render(t, s) {
		add(f.Path, f.Content)
		handles = handles || bytes.Contains(f.Content, []byte("stubHandler"))
	}
	if handles {
		add("idem_setup_test.go", strings.Replace(setup, "package p", "package "+s.Package, 1))
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup), Error: func(err error) { t.Error(err) }}
	_, _ = conf.Check(s.Package, fset, files, nil) // errors went to conf.Error
}

// setup is what a service with Go code writes for its tests.
const setup = `package p

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

func newTestHandler(testing.TB, *pgxpool.Pool) Handler { return stubHandler{} }

func editTestLog(_ string, log []idemtest.Event) []idemtest.Event { return log }
`

// exportData maps every package that generated code may import, and what those import, to
// the compiler's export data.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		"../../runtime", "../../runtime/outbox", "../../runtime/idemtest", "../../runtime/idemtest/testleases",
		"../../runtime/wire", "../../runtime/wire/strictjson", "testing", "encoding/json", "slices", "strconv").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = export
	}
	return exports
}
