package gocode

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// topicFile is idem_<topic>_gen.go: handler, topic, plan, then event by event.
func (p *pkg) topicFile(t *model.Topic) (*file, error) {
	f := newFile("idem_"+t.FileName+"_gen.go", p.service.Package, p.service.Source+", topic "+t.Name)
	if topicHandles(t) {
		handlerInterface(f, t)
	}
	p.topicFunc(f, t)
	p.plan(f, t)
	addDispatch(f, t)
	doc := flushDoc
	if slices.ContainsFunc(t.Flush, func(s *model.Step) bool { return strings.Contains(p.sql[s], "idem_step_refused") }) {
		doc += " " + refusedDoc
	}
	f.fn(doc, "p *"+planType(t), "Flush", []code{named("b", pointer(wire("Batch")))}, nil, func(g *group) {
		for _, s := range t.Flush {
			g.Add(text("b.Write(%s, &p.%s)", statementConst(s), rowsField(s)))
		}
	})
	decoderOf(f, t)
	for _, e := range t.Events {
		if err := p.event(f, e); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func handlerInterface(f *file, t *model.Topic) {
	doc := fmt.Sprintf("%s handles the events of topic %q that need Go code.", handlerType(t), t.Name)
	f.interfaceType(doc, handlerType(t), func(g *group) {
		first := true
		for _, e := range t.Events {
			if e.HasCode() {
				if !first {
					g.Line()
				}
				first = false
				comment(g, docOf(e.Doc, fmt.Sprintf("%s is called for %s.", e.GoName, eventKind(e))))
				if e.Effect != nil {
					comment(g, "It is an effect: it is called outside of the transaction, under a lease.")
					if e.Effect.Lock != nil {
						comment(g, lockDoc(e.Effect.Lock))
					}
				}
				g.Add(handlerMethod(e, true))
			}
		}
	})
}

// handlerMethod is the signature of the method that handles an event.
func handlerMethod(e *model.Event, names bool) code {
	if e.Effect != nil {
		return effectMethod(e, names)
	}
	params := []code{qual("context", "Context"), idem("Tx"), text(e.GoName)}
	if names {
		for i, name := range []string{"ctx", "tx", "e"} {
			params[i] = named(name, params[i])
		}
	}
	return call(e.GoName, params...).Error()
}

func (p *pkg) topicFunc(f *file, t *model.Topic) {
	var params []code
	var setup []code
	name := code(lit(t.Kafka[0]))
	if len(t.Kafka) > 1 {
		params, name = append(params, text("name string")), text("name")
	}
	registry := inRegistry(t)
	if len(registry) > 0 {
		params = append(params, registryParam())
	}
	if topicHandles(t) {
		params = append(params, text("h "+handlerType(t)))
		setup = append(setup, text("handler: h"))
	}
	if settings := decoderSettings(t); settings != nil {
		setup = append(setup, pair("decoder", text(decoderType(t)).Values(settings...)))
	}
	for _, is := range packings(t) {
		if is.Messages != nil {
			setup = append(setup, pair(is.field, is.literal(p.service.Limits.MaxPayload)))
		}
	}
	plan := text("&" + planType(t)).Values(setup...)
	elems := []code{
		pair("Name", name),
		pair("StartFrom", wire(upperFirst(t.StartFrom))),
		pair("OnFailure", failurePolicy(t.OnFailure, t.OnFailure.Keep)),
	}
	if t.Ordered {
		elems = append(elems, text("Ordered: true"))
	}
	if t.Parks() {
		elems = append(elems, text("Parks: true"))
	}
	if w := t.LongestWindow(false); w > 0 {
		elems = append(elems, pair("Window", duration(w)))
	}
	if w := t.LongestWindow(true); w > 0 {
		elems = append(elems, pair("Chain", duration(w)))
	}
	if w := shortest(t); w > 0 {
		elems = append(elems, pair("Shortest", duration(w)))
	}
	if len(t.Flush) > 0 {
		elems = append(elems, pair("Writes", text("[]string").Values(written(p.service, t)...)))
	}
	if most := longestEffect(t); most > 0 {
		elems = append(elems, pair("Effects", duration(most)))
	}
	if len(registry) > 0 {
		elems = append(elems, pair("Prepare", prepare(registry)))
	}
	elems = append(elems, pair("NewPlan", oneLine(nil, wire("Plan"), plan)))
	doc := ""
	if t.Doc != (model.Doc{}) {
		doc = strings.TrimSpace(fmt.Sprintf("%s is topic %q.\n%s", topicFunc(t), t.Name, docOf(t.Doc, "")))
	} else if len(t.Kafka) > 1 {
		doc = fmt.Sprintf("%s is one of the topics of %q.", topicFunc(t), t.Name)
	}
	f.fn(doc, "", topicFunc(t), params, wire("Topic"), func(g *group) {
		for _, is := range registry {
			g.Add(text("%s := %s.From(registry)", is.local, is.messageVar()))
		}
		g.Return(composite(wire("Topic"), elems))
	})
}

// shortest is the shortest window of the topic's keys, where it is not the first longest one.
func shortest(t *model.Topic) time.Duration {
	least := t.ShortestWindow()
	if least == cmp.Or(t.LongestWindow(false), t.LongestWindow(true)) {
		return 0
	}
	return least
}

// flushDoc explains waves, a word that other comments of the file use.
const flushDoc = "Flush implements wire.Plan. It ends a wave: each statement runs once, with all rows collected for it. " +
	"A batch needs several waves if it must write a row several times."

const refusedDoc = "A statement that cannot do what its step says inserts into idem_step_refused. That insert always fails, so the event becomes a dead letter."

// plan writes the struct that collects rows.
func (p *pkg) plan(f *file, t *model.Topic) {
	doc := fmt.Sprintf("%s collects the rows of one batch; it belongs to one partition.", planType(t))
	f.structType(doc, planType(t), func(g *group) {
		if topicHandles(t) {
			g.Add(text("handler " + handlerType(t)))
		}
		g.Add(text("decoder " + decoderType(t)))
		if len(t.EventType) > 1 {
			g.Add(text("eventType []byte"))
		}
		for _, is := range packings(t) {
			g.Add(text(is.field + " " + is.encodingType()))
		}
		for _, e := range t.Events {
			eventFields(g, e)
		}
	})
}

// eventFields are the plan's fields for one event, in a block of their own: gofmt aligns
// them with nothing else, so that another event changes none of these lines.
func eventFields(g *group, e *model.Event) {
	if !e.HasCode() || len(e.Steps) > 0 {
		g.Line()
	}
	if !e.HasCode() {
		g.Add(text("%s %s", scratch(e), e.GoName))
	}
	for _, s := range e.Steps {
		g.Add(text(rowsField(s)).Add(wire("Rows")))
	}
}

// addDispatch writes the method that finds the event of a record.
func addDispatch(f *file, t *model.Topic) {
	params := []code{named("b", pointer(wire("Batch"))), named("m", pointer(wire("Message")))}
	f.fn("Add implements wire.Plan.", "p *"+planType(t), "Add", params, text("error"), func(g *group) {
		open(g, t)
		g.If(text("m.Value == nil")).BlockFunc(func(g *group) { onTombstone(g, t) })
		switch {
		case len(t.EventType) == 0:
			for _, e := range t.Events {
				if !e.Tombstone {
					g.Return(text("p.add%s(b, m)", e.GoName))
					return
				}
			}
			g.Return(wire("OnlyTombstones").Call())
			return
		case len(t.EventType) > 1:
			joinedType(g, t)
			switchType(g, t, "string(eventType)")
		case t.EventType[0].Header != "":
			typeText(g, t, 0, "eventType")
			switchType(g, t, "string(eventType)")
		default:
			typeText(g, t, 0, "eventType")
			switchType(g, t, "eventType")
		}
		unhandled(g, t.SkipUnknown, "Unknown", text("eventType"))
	})
}

func onTombstone(g *group, t *model.Topic) {
	for _, e := range t.Events {
		if e.Tombstone {
			g.Return(text("p.add%s(b, m)", e.GoName))
			return
		}
	}
	unhandled(g, t.SkipTombstone, "NoTombstone")
}

// joinedType joins the texts that tell events apart.
func joinedType(g *group, t *model.Topic) {
	typeText(g, t, 0, "first")
	g.Add(text("eventType := append(p.eventType[:0], first...)"))
	for i := range t.EventType[1:] {
		next := fmt.Sprintf("text%d", i+2)
		typeText(g, t, i+1, next)
		g.Add(text("eventType = wire.JoinType(eventType, %s)", next))
	}
	g.Add(text("p.eventType = eventType"))
}

// typeText reads the text at one of the places of event_type.
func typeText(g *group, t *model.Topic, i int, name string) {
	by := t.EventType[i]
	read := code(text("m.Header(%q)", by.Header))
	switch {
	case by.Header == "" && i == 0:
		read = atPath("p.decoder.EventType", by)
	case by.Header == "":
		read = atPath("p.decoder.OptEventType", by)
	case i > 0:
		read = text("m.OptHeader(%q)", by.Header)
	}
	g.Add(text(name + ", err :=").Add(read))
	g.If(text("err != nil")).Block(text("return err"))
}

func switchType(g *group, t *model.Topic, on string) {
	g.Switch(text(on)).BlockFunc(func(g *group) {
		for _, e := range t.Events {
			if len(e.Types) > 0 {
				g.Case(literals(e.Types)...).Block(text("return p.add%s(b, m)", e.GoName))
			}
		}
		if len(t.Ignore) > 0 {
			g.Case(literals(t.Ignore)...).Block(text("b.Ignore()"), text("return nil"))
		}
	})
}

// atPath calls a method of the decoder that reads a text in the payload.
func atPath(method string, d model.Discriminator) code {
	path := []code{text("m")}
	for _, name := range d.Path {
		path = append(path, lit(name))
	}
	return call(method, path...)
}

func literals(texts []string) []code {
	var out []code
	for _, t := range texts {
		out = append(out, lit(t))
	}
	return out
}

// unhandled does what the spec says about a record that no event takes.
func unhandled(g *group, skip bool, failure string, about ...code) {
	if skip {
		g.Add(text("b.Ignore()"))
		g.Return(text("nil"))
		return
	}
	g.Return(wire(failure).Call(about...))
}
