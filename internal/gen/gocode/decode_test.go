package gocode_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Only what reads records knows that they are JSON: not the plan, its topic, the key, the rows or
// the handlers.
func TestOnlyDecodersReadJSON(t *testing.T) {
	named := 0
	for name, s := range golden(t) {
		for _, f := range s.files {
			parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				if !readsJSON(d) {
					continue
				}
				named++
				if !decodes(d) {
					t.Errorf("%s: %s reads JSON in\n%s", name, f.Path, f.Content[d.Pos()-1:d.End()-1])
				}
			}
		}
	}
	if named == 0 {
		t.Error("no declaration reads JSON")
	}
}

func readsJSON(d ast.Decl) (found bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && x.Name == "strictjson"
		}
		return true
	})
	return found
}

// decodes reports whether a declaration is a decoder's type or method.
func decodes(d ast.Decl) bool {
	if f, ok := d.(*ast.FuncDecl); ok {
		return f.Recv != nil && strings.HasPrefix(f.Name.Name, "decode")
	}
	g := d.(*ast.GenDecl)
	if g.Tok != token.TYPE {
		return false
	}
	spec, ok := g.Specs[0].(*ast.TypeSpec)
	return ok && spec.Assign.IsValid() && (strings.HasSuffix(spec.Name.Name, "Decoder") || strings.HasSuffix(spec.Name.Name, "Encoding"))
}
