package idem_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
)

// go doc shows no fields of an alias. The comments of those that people meet in their code list
// them, and say what is so.
func TestDocOfAnAliasListsItsFields(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "types.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{} // "Name Type" of each field, by the alias
	line := regexp.MustCompile(`(?m)^\t(\w+) +([\w.\[\]]+)`)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			for _, m := range line.FindAllStringSubmatch(spec.Doc.Text(), -1) {
				listed[spec.Name.Name] = append(listed[spec.Name.Name], m[1]+" "+m[2])
			}
		}
		return true
	})
	here := strings.NewReplacer("wire.Key", "Key", "wire.Message", "Message", "wire.Header", "Header", "uint8", "byte")
	for _, of := range []reflect.Type{reflect.TypeFor[idem.Delivery](), reflect.TypeFor[idem.Message](), reflect.TypeFor[idem.Header]()} {
		var want []string
		for f := range of.Fields() {
			if f.IsExported() {
				want = append(want, f.Name+" "+here.Replace(f.Type.String()))
			}
		}
		if got := listed[of.Name()]; !slices.Equal(got, want) {
			t.Errorf("the comment of %s lists %q, it has %q", of.Name(), got, want)
		}
	}
}
