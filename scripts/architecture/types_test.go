package architecture

import (
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mostFields  = 14 // of one hand-written struct
	mostMethods = 30 // of one hand-written type
)

// shape is how large a type is. A type that it embeds counts as one field: it is measured itself.
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
	all := shapes{}
	handWritten(t, func(path string) {
		file := parse(t, path)
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../") + ": "
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					all.at(dir+receiver(n.Recv.List[0].Type)).methods++
				}
			case *ast.TypeSpec:
				all.at(dir + n.Name.Name).count(n.Type)
				return false
			case *ast.StructType, *ast.InterfaceType: // without a name
				all.at(parsedFiles.Position(n.Pos()).String()).count(n)
				return false
			}
			return true
		})
	})
	if len(all) < 300 {
		t.Fatalf("%d types found only", len(all))
	}
	for name, s := range all {
		if s.fields > mostFields {
			t.Errorf("%s has %d fields, more than %d: is it one thing?", name, s.fields, mostFields)
		}
		if s.methods > mostMethods {
			t.Errorf("%s has %d methods, more than %d: is it one thing?", name, s.methods, mostMethods)
		}
	}
}

// shapes are those of the types of all packages, by directory and name.
type shapes map[string]*shape

func (all shapes) at(name string) *shape {
	if all[name] == nil {
		all[name] = &shape{}
	}
	return all[name]
}

// count adds the fields and methods that a type lists itself, also in a type without a name
// within it.
func (s *shape) count(typ ast.Node) {
	ast.Inspect(typ, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			s.fields += n.Fields.NumFields()
		case *ast.InterfaceType:
			s.methods += n.Methods.NumFields()
		}
		return true
	})
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
