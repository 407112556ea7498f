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
		if e.OwnFailure {
			g.Add(text("b.OnFailure(&%s)", policyVar(e)))
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
		if !e.Key.Offset {
			args := "&p.key"
			if keyHeaders(e.Key.Parts) {
				args += ", m"
			}
			g.Add(text("key, err := e.key(%s)", args))
			returnErr(g)
		}
		if fits(e) {
			g.If(text("err := e.fits()"), text("err != nil")).Block(text("return err"))
		}
		if !e.Key.Offset {
			for i, former := range e.Key.Former {
				args := "&p.key"
				if keyHeaders(former.Parts) {
					args += ", m"
				}
				g.Add(text("b.Also(e.%s(%s))", formerMethod(i), args))
			}
			args := "&p.print"
			if buffersPrint(e) {
				args += ", &p.json"
			}
			claim := "Claim"
			if e.Key.SamePartition {
				claim = "ClaimHere"
			}
			g.If(text("fresh, err := b.%s(%q, key, e.fingerprint(%s))", claim, e.GoName, args), text("!fresh")).Block(text("return err"))
		}
		declared := false
		for _, s := range e.Steps {
			declared = step(g, s, declared)
		}
		if e.Handle {
			callHandler(g, e)
		}
		g.Return(text("nil"))
	})
	if e.OwnFailure {
		f.decl(policyVar(e)+" is read only.", text("var %s =", policyVar(e)).Add(failurePolicy(e.OnFailure)))
	}
}

func returnErr(g *group) { g.If(text("err != nil")).Block(text("return err")) }

func callHandler(g *group, e *model.Event) {
	fn := closure(
		[]code{named("ctx", qual("context", "Context")), named("tx", idem("Tx"))}, []code{text("error")},
		func(g *group) { g.Return(text("p.handler.%s(ctx, tx, e)", e.GoName)) })
	g.Add(call("b.Call", text("m"), composite(wire("Call"), []code{pair("Event", lit(e.GoName)), pair("Fn", fn)})))
}

// failurePolicy is on_failure of a topic or an event.
func failurePolicy(p model.FailurePolicy) code {
	elems := []code{
		pair("Retries", lit(p.Retries)),
		pair("InitialBackoff", duration(p.InitialBackoff)),
		pair("MaxBackoff", duration(p.MaxBackoff)),
	}
	if p.GiveUp == "stop" {
		elems = append(elems, text("Stop: true"))
	}
	elems = append(elems, pair("StopAfter", lit(p.StopAfter)), pair("Keep", duration(p.Keep)))
	return composite(wire("FailurePolicy"), elems)
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
