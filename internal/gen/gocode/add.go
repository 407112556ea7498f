package gocode

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// eventDecl writes what the runtime must know to take a record in as an event.
func (p *pkg) eventDecl(f *file, e *model.Event) {
	method := func(name string) code { return text("(*%s).%s", e.GoName, name) }
	elems := []code{pair("Name", lit(e.GoName))}
	if e.OwnFailure {
		elems = append(elems, pair("OnFailure", text("&"+policyVar(e))))
	}
	elems = append(elems, pair("Decode", method("decode")))
	if e.HasCode() {
		elems = append(elems, text("Owned: true"))
	}
	if fits(e) {
		elems = append(elems, pair("Fits", method("fits")))
	}
	if !e.Key.Offset {
		elems = append(elems, pair("Key", method("key")), pair("Space", wire("KeySpace").Call(lit(hex.EncodeToString(e.Key.Space[:])))))
		if e.Key.SamePartition {
			elems = append(elems, text("Here: true"))
		}
		elems = append(elems, pair("Print", method("fingerprint")), pair("Content", text("%#08x", e.Key.Content)))
	}
	typ := wire("Event").Add(text("[%s, *%s]", e.GoName, decoderType(e.Topic)))
	doc := fmt.Sprintf("%s defines how %s is decoded, and which records are duplicates. It is read-only.", eventVar(e), e.GoName)
	f.variable(doc, eventVar(e), composite(typ, elems))
	if e.OwnFailure {
		policyDecl(f, e)
	}
	if e.Effect != nil {
		termsDecl(f, e)
	}
}

// addMethod writes the method that turns a record into rows and calls.
func (p *pkg) addMethod(f *file, e *model.Event) {
	params := []code{named("b", pointer(wire("Batch"))), named("m", pointer(wire("Message")))}
	f.fn("", "p *"+planType(e.Topic), fmt.Sprintf("add%s", e.GoName), params, text("error"), func(g *group) {
		if e.HasCode() {
			g.Add(text("e := new(%s)", e.GoName))
		} else {
			g.Add(text("e := &p.%s", scratch(e)))
		}
		take := call(eventVar(e)+".Take", text("b"), text("m"), text("&p.decoder"), text("e"))
		g.If(text("fresh, err :=").Add(take), text("!fresh")).Block(text("return err"))
		if e.Effect != nil {
			callEffect(g, e)
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
}

func callHandler(g *group, e *model.Event) {
	fn := closure(
		[]code{named("ctx", qual("context", "Context")), named("tx", idem("Tx"))}, []code{text("error")},
		func(g *group) { g.Return(text("p.handler.%s(ctx, tx, *e)", e.GoName)) })
	parts := []code{pair("Event", lit(e.GoName)), pair("Fn", fn)}
	g.Add(call("b.Call", text("m"), composite(wire("Call"), parts)))
}

// step writes the rows of one step. It returns whether the variable r exists afterwards.
func step(g *group, s *model.Step, declared bool) bool {
	marks := marksOf(s)
	if s.Each == nil {
		marks.add(g)
		return row(g, s, declared)
	}
	list := "e." + s.Each.GoName
	elem, index := usesElem(s), usesIndex(s)
	scalar := scalarElem(s)
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
		marks.add(g)
		row(g, s, declared)
	})
	return declared
}

// scalarElem reports whether the elements of a step's list are copied, not pointed to.
func scalarElem(s *model.Step) bool {
	return !composed(*s.Each.Type.Elem) && !s.Each.Type.Elem.Optional
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
	case v.Kind == model.EventIDValue:
		return fmt.Sprintf("b.OutboxID(m, %q)", s.GoName)
	case v.Kind == model.SentValue:
		return "e." + v.Field.GoName + ".Sent()"
	case v.Kind == model.FieldValue:
		return valueOf(v.Field)
	case v.Kind == model.ResultValue:
		return "e.result." + v.Field.GoName
	case v.Field != nil:
		return "v." + v.Field.GoName
	}
	return "v"
}
