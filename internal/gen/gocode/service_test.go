package gocode_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/gocode"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// rendered is a service with the files of its package.
type rendered struct {
	*model.Service
	files []gocode.File
	dir   string // of the spec
}

// allGolden is what golden found.
var allGolden = map[string]rendered{}

// golden are the specs that have packages, by name, each rendered once for all tests.
func golden(t testing.TB) map[string]rendered {
	t.Helper()
	if len(allGolden) > 0 {
		return allGolden
	}
	for _, pattern := range []string{"../../../testdata/golden/accepted/*/idemgen.yaml", "../../../testdata/golden/behaviour/*/idemgen.yaml", "../../../examples/*/idemgen.yaml", "../../../examples/*/*/idemgen.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no spec (%v)", pattern, err)
		}
		for _, file := range files {
			spec, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := load(t, string(spec))
			allGolden[filepath.Base(filepath.Dir(file))] = rendered{s, render(t, s), filepath.Dir(file)}
		}
	}
	return allGolden
}

// load resolves a spec that must be right.
func load(t testing.TB, spec string) *model.Service {
	t.Helper()
	read, ds := syntax.Load("idemgen.yaml", []byte(spec))
	s, more := resolve.Resolve(read)
	if s != nil {
		s.Identity, s.Schema = model.Identity{Writes: 1, Knows: []uint32{1}}, map[string]int{"core": 1}
		return s
	}
	ds.Append(more)
	var b strings.Builder
	if err := ds.Print(&b, "idemgen.yaml", []byte(spec)); err != nil {
		t.Fatal(err)
	}
	t.Fatal(b.String())
	return nil
}

func render(t testing.TB, s *model.Service) []gocode.File {
	t.Helper()
	files, err := gocode.Render(s, gocode.SQL{Step: sqlcode.Step, Table: sqlcode.TableName}, gocode.Tests{Digest: "0", Cases: "testdata/cases"})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// file returns one rendered file.
func file(t testing.TB, files []gocode.File, path string) string {
	t.Helper()
	for _, f := range files {
		if f.Path == path {
			return string(f.Content)
		}
	}
	t.Fatalf("no file %s", path)
	return ""
}
