package gocode

import (
	"fmt"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
)

// effectMethod is the signature of the method that makes an effect.
func effectMethod(e *model.Event, names bool) code {
	params := []code{qual("context", "Context"), text(e.GoName)}
	if names {
		params = []code{named("ctx", params[0]), named("e", params[1])}
	}
	if r := e.Effect.Result; r != nil {
		return call(e.GoName, params...).Add(results(text(r.GoName), text("error")))
	}
	return call(e.GoName, params...).Error()
}

// longestEffect is the longest time of one call of an effect; 0 if no event of the topic has one.
func longestEffect(t *model.Topic) (most time.Duration) {
	for _, e := range t.Events {
		if e.Effect != nil {
			most = max(most, e.Effect.Timeout)
		}
	}
	return most
}

func termsVar(e *model.Event) string { return goname.Unexported(e.GoName) + "Terms" }

// termsDecl writes effect of an event as the spec says it.
func termsDecl(f *file, e *model.Event) {
	terms := []code{
		pair("Timeout", duration(e.Effect.Timeout)),
		pair("Keep", duration(e.Effect.Keep)),
	}
	if e.Effect.Interrupts {
		terms = append(terms, text("Interrupts: true"))
	}
	doc := fmt.Sprintf("%s holds the terms of the effect of %s. It is read-only.", termsVar(e), e.GoName)
	f.variable(doc, termsVar(e), composite(wire("EffectTerms"), terms))
}

// resultField is where the result of an event's effect is, for its steps.
func resultField(g *group, e *model.Event) {
	if e.Effect != nil && e.Effect.Result != nil {
		g.Line()
		g.Add(text("result %s", e.Effect.Result.GoName)).Comment("of the effect, for the steps")
	}
}

// callEffect has the record wait for its effect, and takes the result.
func callEffect(g *group, e *model.Event) {
	result := e.Effect.Result
	fn := closure([]code{named("ctx", qual("context", "Context"))}, []code{text("[]byte"), text("error")}, func(g *group) {
		if result == nil {
			g.Return(text("nil, p.handler.%s(ctx, *e)", e.GoName))
			return
		}
		g.Add(text("r, err := p.handler.%s(ctx, *e)", e.GoName))
		g.Return(text("r.appendJSON(nil), err"))
	})
	parts := []code{pair("Event", lit(e.GoName)), pair("Terms", text("&"+termsVar(e))), pair("Fn", fn)}
	if result != nil {
		parts = append(parts, pair("Read", closure([]code{named("result", text("[]byte"))}, []code{text("error")}, func(g *group) {
			g.Return(call("e.result.decodeResult", lit(e.GoName), text("result")))
		})))
	}
	if l := e.Effect.Lock; l != nil {
		parts = append(parts, pair("Lock", newLock(l)))
	}
	effect := composite(wire("Effect"), parts)
	g.Add(text("ok, err :=").Add(call("b.Effect", text("m"), effect)))
	g.If(text("!ok")).Block(text("return err"))
}

// testEffect writes the effect of generated tests: it is counted, and it returns what the
// log says.
func testEffect(f *file, e *model.Event) {
	params := []code{named("ctx", qual("context", "Context")), text("_ " + e.GoName)}
	answer := qual(idemtestPath, "EffectResult").Call(text("ctx"))
	r := e.Effect.Result
	if r == nil {
		f.fn("", "stubHandler", e.GoName, params, text("error"), func(g *group) {
			g.Add(text("_, err :=").Add(answer))
			g.Return(text("err"))
		})
		return
	}
	out := results(text("r "+r.GoName), text("err error"))
	f.fn("", "stubHandler", e.GoName, params, out, func(g *group) {
		g.Add(text("result, err :=").Add(answer))
		g.If(text("err == nil")).Block(text("err = r.decodeResult(%q, result)", e.GoName))
		g.Return(text("r, err"))
	})
}

// ownEffect writes the effect of generated tests that calls the service's own, where a case does
// not say what the call returns.
func ownEffect(f *file, e *model.Event) {
	params := []code{named("ctx", qual("context", "Context")), text("e " + e.GoName)}
	out := code(text("error"))
	if r := e.Effect.Result; r != nil {
		out = results(text(r.GoName), text("error"))
	}
	f.fn("", "h testEffects", e.GoName, params, out, func(g *group) {
		g.If(text("!").Add(qual(idemtestPath, "CallsEffect").Call(text("ctx")))).Block(text("return stubHandler{}.%s(ctx, e)", e.GoName))
		called := qual(idemtestPath, "EffectCalled")
		if e.Effect.Result == nil {
			g.Return(called.Call(text("ctx"), text("h.Handler.%s(ctx, e)", e.GoName)))
			return
		}
		g.Add(text("r, err := h.Handler.%s(ctx, e)", e.GoName))
		g.Return(text("r"), called.Call(text("ctx"), text("err")))
	})
}

// isResult reports whether an effect returns a type.
func isResult(s *model.Service, of *model.Type) bool {
	return slices.ContainsFunc(s.Topics, func(t *model.Topic) bool {
		return slices.ContainsFunc(t.Events, func(e *model.Event) bool { return e.Effect != nil && e.Effect.Result == of })
	})
}
