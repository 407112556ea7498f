package gocode_test

import (
	"bytes"
	"context"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/gocode"
	"github.com/idemgen/idemgen/internal/gen/typecheck"
)

// TestFiles: a service has one file for itself and for each topic, and a test file; all
// bear the generated marker and are formatted.
func TestFiles(t *testing.T) {
	want := map[string]string{
		"orders":    "idem_gen.go idem_orders_v1_gen.go idem_gen_test.go",
		"telemetry": "idem_gen.go idem_telemetry_v1_gen.go idem_gen_test.go",
	}
	for name, s := range golden(t) {
		var paths []string
		for _, f := range s.files {
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
	spec, err := os.ReadFile("../../../testdata/golden/accepted/kitchen_sink/idemgen.yaml")
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
	for name, s := range golden(t) {
		t.Run(name, func(t *testing.T) { typeCheck(t, s) })
	}
}

func typeCheck(t *testing.T, s rendered) {
	t.Helper()
	var files []typecheck.File
	handles := false
	for _, f := range s.files {
		files = append(files, typecheck.File{Name: f.Path, Content: f.Content})
		handles = handles || bytes.Contains(f.Content, []byte("stubHandler"))
	}
	if handles {
		files = append(files, typecheck.File{Name: "idem_setup_test.go", Content: []byte(strings.Replace(setup, "package p", "package "+s.Package, 1))})
	}
	if err := checker(t).Check(s.Package, files); err != nil {
		t.Error(err)
	}
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

// checker knows every package that generated code may import.
func checker(t *testing.T) *typecheck.Checker {
	t.Helper()
	c, err := generatedImports()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var generatedImports = sync.OnceValues(func() (*typecheck.Checker, error) {
	return typecheck.New(context.Background(), "../../..",
		"./runtime/idem", "./runtime/avro", "./runtime/effects", "./runtime/framedjson", "./runtime/idemtest", "./runtime/idemtest/testleases", "./runtime/idemtest/testmessages", "./runtime/protobuf", "./runtime/wire", "./runtime/wire/strictjson",
		"testing", "encoding/json", "slices", "strconv")
})
