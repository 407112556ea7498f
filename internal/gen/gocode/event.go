package gocode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/explain"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// event writes everything of one event, in the order in which a reviewer reads it.
func (p *pkg) event(f *file, e *model.Event) error {
	eventStruct(f, e)
	redaction(f, e.GoName, e.Fields)
	if err := decodeMethod(f, e); err != nil {
		return fmt.Errorf("event %s: %w", e.Name, err)
	}
	for _, field := range e.Fields {
		if field.Type.Elem != nil && p.needsJSON(e, field) {
			appendMethod(f, e, field)
		}
	}
	if !e.Key.Offset {
		identifyMethod(f, e)
		fingerprintMethod(f, e)
	}
	fitsMethod(f, e)
	p.eventDecl(f, e)
	p.addMethod(f, e)
	for _, s := range e.Steps {
		f.decl(stepDoc(statementConst(s), s), text("const %s =", statementConst(s)).Add(rawString("\n"+p.sql[s])))
	}
	return nil
}

func eventStruct(f *file, e *model.Event) {
	doc := docOf(e.Doc, e.GoName+" is "+eventKind(e)+".")
	if e.Doc.Description != "" {
		doc = strings.TrimRight(e.Doc.Description, "\n") + "\nIt is " + eventKind(e) + "."
		if len(e.Types) > 0 {
			doc = strings.TrimRight(e.Doc.Description, "\n") + fmt.Sprintf("\nIts type on topic %q is %s.", e.Topic.Name, eventTypes(e))
		}
	}
	f.structType(doc+"\n"+explain.Identity(e), e.GoName, func(g *group) {
		for _, field := range e.Fields {
			structField(g, field)
		}
		resultField(g, e)
	})
}

// eventKind says how the event is recognized.
func eventKind(e *model.Event) string {
	switch {
	case e.Tombstone:
		return fmt.Sprintf("the tombstone of topic %q: a record without a value", e.Topic.Name)
	case len(e.Types) == 0:
		return fmt.Sprintf("the event of topic %q", e.Topic.Name)
	}
	return fmt.Sprintf("event %s on topic %q", eventTypes(e), e.Topic.Name)
}

// eventTypes lists the types of an event.
func eventTypes(e *model.Event) string {
	var types []string
	for _, t := range e.Types {
		types = append(types, fmt.Sprintf("%q", t))
	}
	return strings.Join(types, " or ")
}

// structField is a field with a comment behind it that says where it is read from, unless that
// is the member of its name.
func structField(g *group, f *model.Field) {
	comment(g, strings.TrimLeft(docOf(f.Doc, ""), "\n"))
	field := named(f.GoName, fieldType(f))
	if place := fieldSource(f); place != "" {
		g.Add(field).Comment(place)
		return
	}
	g.Add(field)
}

// fieldSource says where a field is read from; "" for the member of its name.
func fieldSource(f *model.Field) string {
	switch f.Source.Kind {
	case model.FromHeader:
		if f.Source.Binary {
			return fmt.Sprintf("header %q, binary", f.Source.Header)
		}
		return fmt.Sprintf("header %q", f.Source.Header)
	case model.FromRecord:
		return "the record's " + f.Source.Record
	case model.FromRecordKey:
		if len(f.Source.Part.Path) > 0 {
			return fmt.Sprintf("%q of the record key", strings.Join(f.Source.Part.Path, "."))
		}
		return "the record key"
	}
	switch path := strings.Join(f.Source.Path, "."); path {
	case "":
		return "the whole payload"
	case f.Name:
		return ""
	default:
		return fmt.Sprintf("%q", path)
	}
}

// appendMethod writes a list or a map as JSON.
func appendMethod(f *file, e *model.Event, field *model.Field) {
	f.fn("", "e *"+e.GoName, fmt.Sprintf("append%s", field.GoName), []code{text("b []byte")}, text("[]byte"), func(g *group) {
		returnAppended(g, valueOf(field), field.Type, 0)
	})
}

// stepDoc says what a statement does where its text does not show it at once.
func stepDoc(name string, s *model.Step) string {
	var facts []string
	if effect := stepEffect(name, s); effect != "" {
		facts = append(facts, effect)
	}
	if slices.ContainsFunc(s.Set, func(a model.Assign) bool { return a.Value.Patch() }) {
		facts = append(facts, "A column keeps its value if the event lacks the field.")
	}
	for _, a := range s.Params() {
		if s.TypeOf(a.Value).Kind == model.List && !isJSON(a.Column) {
			facts = append(facts, "An array is sent as text, because Postgres has no arrays of arrays.")
			break
		}
	}
	return strings.Join(facts, "\n")
}

// stepEffect says what a statement does to rows.
func stepEffect(name string, s *model.Step) string {
	missing := s.If.Missing == "error"
	switch {
	case s.Sums && missing:
		return fmt.Sprintf("%s adds up what the events add to each row; it fails if a row is missing.", name)
	case s.Sums:
		return fmt.Sprintf("%s adds up what the events add to each row.", name)
	case s.Collapse && s.If.Newer != nil:
		return fmt.Sprintf("%s writes, for each %s, the row with the highest %s; if several are equal, the first.", name, listing(model.ColumnNames(s.By)), s.If.Newer.Name)
	case s.Collapse:
		return fmt.Sprintf("%s writes the last row for each %s.", name, listing(model.ColumnNames(s.By)))
	case s.If.Newer != nil && missing:
		return fmt.Sprintf("%s changes a row only if its %s increases; it fails if the row is missing.", name, s.If.Newer.Name)
	case s.If.Newer != nil && s.Removes:
		return fmt.Sprintf("%s deletes a row only if its %s is lower than that of the event.", name, s.If.Newer.Name)
	case s.If.Newer != nil:
		return fmt.Sprintf("%s changes a row only if its %s increases.", name, s.If.Newer.Name)
	case missing:
		return fmt.Sprintf("%s fails if a row is missing.", name)
	}
	return ""
}
