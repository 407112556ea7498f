package gocode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// outboxFile is idem_outbox_gen.go: what the service sends.
func (p *pkg) outboxFile() (*file, error) {
	o := p.service.Outbox
	f := newFile("idem_outbox_gen.go", p.service.Package, p.service.Source+", outbox")
	var headers []code
	for _, h := range o.Headers {
		headers = append(headers, text("{Name: %q, Column: %q}", h.Name, h.Column.Name))
	}
	elems := []code{pair("Table", lit(o.Table.Name))}
	if len(headers) > 0 {
		elems = append(elems, pair("Headers", composite(slice(wire("OutboxHeader")), headers)))
	}
	f.decl("outboxTable holds events until they are sent. It is read only.", text("var outboxTable =").Add(composite(wire("Outbox"), elems)))
	if slices.ContainsFunc(p.service.Topics, (*model.Topic).Emits) {
		f.decl("outboxSQL puts what the steps of a wave send into the table, in the order of their events.", text("var outboxSQL = outboxTable.Insert()"))
	}
	doc := "NewRelay returns what sends the rows of the outbox: run it in main. Of those that run at the same time one sends."
	params := []code{named("db", pointer(qual(pgxpoolPath, "Pool"))), named("to", qual(outboxPath, "Producer"))}
	f.fn(doc, "", "NewRelay", params, pointer(qual(outboxPath, "Relay")), func(g *group) {
		g.Return(qual(outboxPath, "New").Call(text("db"), text("outboxTable"), text("to")))
	})
	for _, e := range o.Events {
		outEvent(f, e)
	}
	return f, nil
}

func outVar(e *model.OutEvent) string { return unexported(e.GoName) + "Out" }

// outEvent writes everything of one event that is sent.
func outEvent(f *file, e *model.OutEvent) {
	what := fmt.Sprintf("event %q, sent to topic %q", e.Type, e.Topic)
	if e.Tombstone {
		what = fmt.Sprintf("a tombstone, %q, sent to topic %q: a record without a value", e.Type, e.Topic)
	}
	doc := docOf(e.Doc, e.GoName+" is "+what+".")
	if e.Doc.Description != "" {
		doc = strings.TrimRight(e.Doc.Description, "\n") + "\nIt is " + what + "."
	}
	f.structType(doc, e.GoName, func(g *group) {
		for _, field := range e.Fields {
			structField(g, field)
		}
	})
	redaction(f, e.GoName, e.Fields)
	emitFuncs(f, e)
	elems := []code{
		text("Outbox: &outboxTable"),
		pair("Name", lit(e.Name)),
		pair("Topic", lit(e.Topic)),
		pair("Type", lit(e.Type)),
		pair("Key", text("(*%s).recordKey", e.GoName)),
	}
	if !e.Tombstone {
		elems = append(elems, pair("Value", text("(*%s).appendValue", e.GoName)))
	}
	if len(e.Headers) > 0 {
		elems = append(elems, pair("Header", text("(*%s).header", e.GoName)))
	}
	f.decl(fmt.Sprintf("%s is how %s is sent. It is read only.", outVar(e), withArticle(e.GoName)),
		text("var %s =", outVar(e)).Add(composite(wire("OutEvent").Add(text("[%s]", e.GoName)), elems)))
	f.fn("", "e *"+e.GoName, "recordKey", nil, text("string"), func(g *group) { g.Return(textOf("e."+e.Key.GoName, e.Key.Type)) })
	if !e.Tombstone {
		f.fn("", "e *"+e.GoName, "appendValue", []code{text("b []byte")}, text("[]byte"), func(g *group) { sent.members(g, "e", e.Payload) })
	}
	if len(e.Headers) > 0 {
		outHeaders(f, e)
	}
}

func emitFuncs(f *file, e *model.OutEvent) {
	ctx, tx := named("ctx", qual("context", "Context")), named("tx", idem("Tx"))
	of := text("e " + e.GoName)
	name := "Emit" + e.GoName
	doc := fmt.Sprintf("%s puts e into the outbox, in tx: it is sent once tx has committed. In a handler its id comes from the event that is handled, elsewhere it is random.", name)
	f.fn(doc, "", name, []code{ctx, tx, of}, text("error"), func(g *group) {
		g.Return(text("%s.Emit(ctx, tx, &e)", outVar(e)))
	})
	doc = fmt.Sprintf("%sAs is %s with an id of the caller's: header %s of the record.", name, name, "Idempotency-Key")
	f.fn(doc, "", name+"As", []code{ctx, tx, named("id", idem("UUID")), of}, text("error"), func(g *group) {
		g.Return(text("%s.EmitAs(ctx, tx, id, &e)", outVar(e)))
	})
}

// outHeaders writes the method that gives declared headers their values.
func outHeaders(f *file, e *model.OutEvent) {
	f.fn("", "e *"+e.GoName, "header", []code{text("name string")}, text("*string"), func(g *group) {
		g.Add(text("switch name").BlockFunc(func(g *group) {
			for _, h := range e.Headers {
				src := "e." + h.Field.GoName
				g.Case(lit(h.Header.Name)).BlockFunc(func(g *group) {
					if t := h.Field.Type; t.Optional {
						g.If(text(src + " == nil")).Block(text("return nil"))
						if !nilable(t) {
							src = "*" + src
						}
					}
					g.Return(text("new").Call(textOf(src, h.Field.Type)))
				})
			}
		}))
		g.Return(text("nil"))
	})
}

// textOf is src, a value of type t that is there, as a record key or a header holds it.
func textOf(src string, t model.FieldType) code {
	t.Optional = false
	switch t.Kind {
	case model.String:
		return text(src)
	case model.Enum:
		return text("string(%s)", src)
	}
	return wire("SentText").Call(sent.appended("nil", src, t, 0))
}

// sentObjects writes the methods by which an object type, in each of its spellings, becomes part
// of what is sent.
func sentObjects(f *file, p *pkg, t *model.Type) {
	var all []*model.Type
	for other := range p.sent {
		if len(other.Enum) == 0 && (other == t || other.First == t) {
			all = append(all, other)
		}
	}
	slices.SortFunc(all, func(a, b *model.Type) int { return strings.Compare(sent.method(a), sent.method(b)) })
	for _, spelled := range all {
		sent.object(f, spelled)
	}
}
