package gocode

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
)

func lockTermsVar(e *model.Event) string { return unexported(e.GoName) + "LockTerms" }

// lockTermsDecl writes lock of an event with a handler as the spec says it.
func lockTermsDecl(f *file, e *model.Event) {
	terms := []code{pair("Lease", duration(e.Lock.Lease))}
	if e.Lock.Redis {
		terms = append(terms, text("External: true"))
	}
	doc := fmt.Sprintf("%s are the terms of the lock of %s. It is read only.", lockTermsVar(e), e.GoName)
	f.decl(doc, text("var %s =", lockTermsVar(e)).Add(composite(wire("LockTerms"), terms)))
}

// newLock is the lock of an event, by the texts of its fields.
func newLock(l *model.Lock) code {
	values := []code{lit(l.Name)}
	for _, f := range l.By {
		switch value := "e." + f.GoName; f.Type.Kind {
		case model.Enum:
			values = append(values, call("string", text(value)))
		case model.UUID:
			values = append(values, call(value+".String"))
		case model.Int32:
			values = append(values, qual("strconv", "FormatInt").Call(call("int64", text(value)), lit(10)))
		case model.Int64:
			values = append(values, qual("strconv", "FormatInt").Call(text(value), lit(10)))
		default:
			values = append(values, text(value))
		}
	}
	return wire("NewLock").Call(values...)
}

// lockDoc says under which lock the code of an event runs.
func lockDoc(l *model.Lock) string {
	var by []string
	for _, f := range l.By {
		by = append(by, f.Name)
	}
	return fmt.Sprintf("No other call under lock %q of the same %s runs meanwhile.", l.Name, listing(by))
}

// testLocked writes a handler of generated tests that has a lock: the lock is looked at.
func testLocked(f *file, e *model.Event) {
	params := []code{named("ctx", qual("context", "Context")), named("_", idem("Tx")), text("_ " + e.GoName)}
	f.fn("", "stubHandler", e.GoName, params, text("error"), func(g *group) {
		g.Return(qual(idemtestPath, "HandlerCalled").Call(text("ctx")))
	})
}
