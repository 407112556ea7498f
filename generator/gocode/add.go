package gocode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// addMethod writes the method that turns a record into rows and calls: everything that
// can refuse the record, then the claim, then the rows.
func (p *pkg) addMethod(f *file, e *model.Event) {
	params := []code{named("b", pointer(wire("Batch"))), named("m", pointer(wire("Message")))}
	f.fn("", "p *"+planType(e.Topic), "add"+e.GoName, params, text("error"), func(g *group) {
		if stop := e.OnFailure.GiveUp; stop != e.Topic.OnFailure.GiveUp {
			g.Add(text("b.StopOnFailure(%t)", stop == "stop"))
		}
		if e.Handle {
			g.Add(text("e, err := Decode%s(*m)", e.GoName))
			returnErr(g)
		} else {
			g.Add(text("e := &p.%s", scratch(e)))
			g.Add(text("p.scan.Borrow(m)"))
			if readsRecord(e) {
				g.Add(text("e.decode(&p.scan, m)"))
			} else {
				g.Add(text("e.decode(&p.scan)"))
			}
			g.If(text("err := p.scan.Finish(%q)", e.GoName), text("err != nil")).Block(text("return err"))
		}
		key := "wire.Key{}"
		if !e.Key.Offset {
			key = "key"
			args := "&p.key"
			if keyHeaders(e) {
				args += ", m"
			}
			g.Add(text("key, err := e.key(%s)", args))
			returnErr(g)
		}
		if fits(e) {
			g.If(text("err := e.fits()"), text("err != nil")).Block(text("return err"))
		}
		if !e.Key.Offset {
			args := "&p.print"
			if buffersPrint(e) {
				args += ", &p.json"
			}
			g.If(text("fresh, err := b.Claim(%q, key, e.fingerprint(%s))", e.GoName, args), text("!fresh")).Block(text("return err"))
		}
		declared := false
		for _, s := range e.Steps {
			declared = step(g, s, declared)
		}
		if e.Handle {
			callHandler(g, e, key)
		}
		g.Return(text("nil"))
	})
	if e.Handle {
		policy(f, e)
	}
}

func returnErr(g *group) { g.If(text("err != nil")).Block(text("return err")) }

func callHandler(g *group, e *model.Event, key string) {
	fn := closure(
		[]code{named("ctx", qual("context", "Context")), named("tx", idem("Tx"))}, []code{text("error")},
		func(g *group) { g.Return(text("p.handler.%s(ctx, tx, e)", e.GoName)) })
	elems := []code{pair("Event", lit(e.GoName))}
	if key == "key" {
		elems = append(elems, text("Key: key"))
	}
	elems = append(elems, text("Policy: &"+policyVar(e)), pair("Fn", fn))
	g.Add(call("b.Call", text("m"), composite(wire("Call"), elems)))
}

// policy writes on_failure of an event with Go code.
func policy(f *file, e *model.Event) {
	elems := []code{
		pair("Retries", lit(e.OnFailure.Retries)),
		pair("InitialBackoff", duration(e.OnFailure.InitialBackoff)),
		pair("MaxBackoff", duration(e.OnFailure.MaxBackoff)),
	}
	if e.OnFailure.GiveUp == "stop" {
		elems = append(elems, text("Stop: true"))
	}
	f.decl(policyVar(e)+" is read only.", text("var %s =", policyVar(e)).Add(composite(wire("FailurePolicy"), elems)))
}

// step writes the rows of one step. It returns whether the variable r exists afterwards.
func step(g *group, s *model.Step, declared bool) bool {
	if s.Each == nil {
		accesses(g, s)
		return row(g, s, declared)
	}
	list := "e." + s.Each.GoName
	elem, index := usesElem(s), usesIndex(s)
	scalar := !composed(*s.Each.Type.Elem) && !s.Each.Type.Elem.Optional
	head := "range " + list
	switch {
	case elem && scalar && index:
		head = "i, v := " + head
	case elem && scalar:
		head = "_, v := " + head
	case elem || index:
		head = "i := " + head
	}
	g.For(text(head)).BlockFunc(func(g *group) {
		if elem && !scalar {
			if s.Each.Type.Elem.Optional {
				g.Add(text("v := %s[i]", list))
			} else {
				g.Add(text("v := &%s[i]", list))
			}
		}
		accesses(g, s)
		row(g, s, declared)
	})
	return declared
}

func usesElem(s *model.Step) bool {
	return slices.ContainsFunc(s.Params(), func(a model.Assign) bool { return a.Value.Kind == model.ElemValue })
}

func usesIndex(s *model.Step) bool {
	return slices.ContainsFunc(s.Params(), func(a model.Assign) bool { return a.Value.Kind == model.PositionValue && a.Column != nil })
}

// source is the Go expression of a sent value.
func source(s *model.Step, v model.Value) string {
	switch {
	case v.Kind == model.PositionValue && s.Each == nil:
		return "1"
	case v.Kind == model.PositionValue:
		return "int32(i + 1)"
	case v.Kind == model.FieldValue:
		return "e." + v.Field.GoName
	case v.Field != nil:
		return "v." + v.Field.GoName
	}
	return "v"
}
