package gocode

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// A method that names rows takes what it uses, and nothing else.
func TestMarksUseTheirParameters(t *testing.T) {
	files, err := filepath.Glob("../../testdata/golden/*/*/idem_*_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	methods := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || !strings.HasPrefix(fn.Name.Name, "before") {
				continue
			}
			methods++
			used := map[string]bool{}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					used[id.Name] = true
				}
				return true
			})
			for _, p := range fn.Type.Params.List {
				if !used[p.Names[0].Name] {
					t.Errorf("%s: %s does not use %s", file, fn.Name.Name, p.Names[0].Name)
				}
			}
		}
	}
	if methods < 50 {
		t.Errorf("%d methods only", methods)
	}
}
