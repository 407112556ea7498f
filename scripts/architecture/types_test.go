package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mostFields  = 14 // of one hand-written struct
	mostMethods = 30 // of one hand-written type
)

// tooLarge are types that are still larger than that, and must not grow.
var tooLarge = map[string]shape{}

// shape is how large a type is.
type shape struct{ fields, methods int }

// handWritten calls f for each hand-written Go file of the repository that is no test.
func handWritten(t *testing.T, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(name, ".") && len(name) > 2 || name == "testdata"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_gen.go"):
			f(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A type with many fields or methods is several things at once.
func TestTypesStayReadable(t *testing.T) {
	types := map[string]*shape{}
	at := func(dir, name string) *shape {
		key := dir + ": " + name
		if types[key] == nil {
			types[key] = &shape{}
		}
		return types[key]
	}
	handWritten(t, func(path string) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../")
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				at(dir, receiver(fn.Recv.List[0].Type)).methods++
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					at(dir, spec.Name.Name).fields = s.Fields.NumFields()
				}
			}
			return true
		})
	})
	if len(types) < 300 {
		t.Fatalf("%d types found only", len(types))
	}
	for name := range tooLarge {
		if types[name] == nil {
			t.Errorf("%s is gone: take it from this test", name)
		}
	}
	for name, s := range types {
		if most, listed := tooLarge[name]; listed {
			if s.fields > most.fields || s.methods > most.methods {
				t.Errorf("%s has %d fields and %d methods: it must not grow", name, s.fields, s.methods)
			} else if s.fields <= mostFields && s.methods <= mostMethods {
				t.Errorf("%s is small enough now: take it from this test", name)
			}
			continue
		}
		if s.fields > mostFields {
			t.Errorf("%s has %d fields, more than %d: is it one thing?", name, s.fields, mostFields)
		}
		if s.methods > mostMethods {
			t.Errorf("%s has %d methods, more than %d: is it one thing?", name, s.methods, mostMethods)
		}
	}
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
