package idemtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
)

// Handler returns the handler under test. It fails the test if a method still is as idemgen
// generated it, or if the handler is the stub: such a test would prove nothing.
func Handler[H any](t testing.TB, handler, stub H) H {
	t.Helper()
	if any(handler) == any(stub) {
		t.Fatalf("idemtest: newTestHandler%s returns stubHandler{}, which does nothing: return your own handler there, for example Service{}",
			sources().at("", "newTestHandler"))
	}
	if missing := sources().unwritten(reflect.TypeFor[H](), reflect.TypeOf(handler), reflect.TypeOf(stub).PkgPath()); len(missing) > 0 {
		t.Fatalf("idemtest: %s", strings.Join(missing, "\n"))
	}
	return handler
}

// code is what the Go files of the package under test declare: functions by receiver and name.
type code map[[2]string]declaration

type declaration struct {
	place     string // file:line
	unwritten bool   // it does nothing but return idem.ErrNotImplemented
}

// sources reads the files once. One that cannot be read says nothing.
var sources = sync.OnceValue(func() code {
	out := code{}
	entries, _ := os.ReadDir(".")
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, entry.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				place := fmt.Sprintf("%s:%d", entry.Name(), files.Position(f.Pos()).Line)
				out[[2]string{receiver(f), f.Name.Name}] = declaration{place, isUnwritten(f)}
			}
		}
	}
	return out
})

// receiver is the name of the type that a function is a method of; "" if it is none.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func isUnwritten(f *ast.FuncDecl) (found bool) {
	if f.Body == nil || len(f.Body.List) != 1 {
		return false
	}
	returns, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok {
		return false
	}
	ast.Inspect(returns, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		found = found || ok && name.Name == "ErrNotImplemented"
		return !found
	})
	return found
}

// at is the place of a function, for messages; "" if it is not known.
func (c code) at(receiver, name string) string {
	if d, known := c[[2]string{receiver, name}]; known {
		return " (" + d.place + ")"
	}
	return ""
}

// handler is the place of the method that handles an event, for messages; "" if it is not known.
func (c code) handler(event string) string {
	var places []string
	for of, d := range c {
		if of[0] != "" && of[1] == event && !strings.Contains(d.place, "_test.go:") {
			places = append(places, d.place)
		}
	}
	if len(places) == 0 {
		return ""
	}
	return " (" + slices.Min(places) + ")"
}

// unwritten says which methods of an interface are as idemgen wrote them, and where.
func (c code) unwritten(methods, handler reflect.Type, pkg string) (missing []string) {
	for m := range methods.Methods() {
		for _, of := range receivers(handler, pkg) {
			d, known := c[[2]string{of, m.Name}]
			if !known {
				continue
			}
			if d.unwritten {
				missing = append(missing, fmt.Sprintf("%s is not implemented: write it at %s, in place of idem.ErrNotImplemented", m.Name, d.place))
			}
			break
		}
	}
	return missing
}

// receivers are the names of a type and of those that it embeds, as far as the package declares
// them.
func receivers(of reflect.Type, pkg string) (names []string) {
	if of == nil {
		return nil
	}
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Name() != "" && of.PkgPath() == pkg {
		names = append(names, of.Name())
	}
	if of.Kind() == reflect.Struct {
		for f := range of.Fields() {
			if f.Anonymous {
				names = append(names, receivers(f.Type, pkg)...)
			}
		}
	}
	return slices.Compact(names)
}

// notWritten says what to do about the error of a handler that returns idem.ErrNotImplemented; ""
// for another error.
func notWritten(err error) string {
	halted, ok := errors.AsType[*idem.HaltedError](err)
	if !ok || halted.Code != halt.Handler || !strings.HasSuffix(halted.Reason, " is not implemented") {
		return ""
	}
	return "\nlikely cause: the Go code returns idem.ErrNotImplemented: write it, and run the test again"
}
