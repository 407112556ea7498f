package state

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/definition"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// Wire is what records hold: the fields of every event and of the types that they name, each
// with its type and the place where it is read. It tells which records of yesterday the
// decoders of today refuse.
type Wire struct {
	Types  []WireType  // in the order of their first use
	Events []WireEvent // in spec order
}

// WireType is an enum with its texts or an object with its members.
type WireType struct {
	Name   string
	Texts  []string
	Fields []Entry
}

// WireEvent is one event.
type WireEvent struct {
	Topic, Event string
	Fields       []Entry
}

// wire returns the form of the records of a service.
func wire(s *model.Service) Wire {
	var w Wire
	for _, t := range s.Topics {
		for _, e := range t.Events {
			w.Events = append(w.Events, WireEvent{t.Name, e.Name, w.entries(e.Fields)})
		}
	}
	return w
}

// entries are the definitions of fields; the types that they name are added to w.
func (w *Wire) entries(fields []*model.Field) []Entry {
	var all []Entry
	for _, f := range fields {
		def := w.typeName(f.Type)
		switch {
		case f.Type.Optional:
			def = "optional " + def
		case f.Default != nil:
			def = "default " + def
		case f.Patch:
			def = "patch " + def
		}
		if place := placeOf(f); place != member(f.Name) {
			def += " at " + place
		}
		all = append(all, Entry{f.Name, def})
	}
	return all
}

// member is the place of a field that is read from the member of its name.
func member(name string) string { return "$." + name }

func placeOf(f *model.Field) string {
	switch f.Source.Kind {
	case model.FromHeader:
		return "header " + f.Source.Header
	case model.FromRecord:
		return "record " + f.Source.Record
	case model.FromRecordKey:
		return "record_key " + definition.Path(f.Source.Part.Path)
	}
	return definition.Path(f.Source.Path)
}

// typeName is the type without optional, as a spec writes it.
func (w *Wire) typeName(t model.FieldType) string {
	switch {
	case t.Kind == model.List:
		return "list(" + w.typeName(*t.Elem) + ")"
	case t.Kind == model.Map:
		return "map(" + w.typeName(*t.Elem) + ")"
	case t.Named == nil:
		return definition.Scalar(t)
	}
	name := t.Named.Name
	if t.Named.Naming != "" { // payloads of another naming are read otherwise
		name += " " + t.Named.Naming
	}
	if !slices.ContainsFunc(w.Types, func(o WireType) bool { return o.Name == name }) {
		i := len(w.Types)
		w.Types = append(w.Types, WireType{Name: name})
		for _, v := range t.Named.Enum {
			w.Types[i].Texts = append(w.Types[i].Texts, v.Text)
		}
		fields := w.entries(t.Named.Fields) // may add types
		w.Types[i].Fields = fields
	}
	return name
}

// wire writes the sections types and records.
func (w *writer) wire(form Wire) {
	if len(form.Types) > 0 {
		w.open(0, "types")
	}
	for _, t := range form.Types {
		if t.Texts != nil {
			w.list(1, t.Name, t.Texts)
			continue
		}
		w.open(1, t.Name)
		w.fields(2, t.Fields)
	}
	topic := ""
	for i, e := range form.Events {
		if i == 0 {
			w.open(0, "records")
		}
		if e.Topic != topic {
			w.open(1, e.Topic)
		}
		topic = e.Topic
		if len(e.Fields) == 0 {
			w.entry(2, e.Event, "{}")
			continue
		}
		w.open(2, e.Event)
		w.fields(3, e.Fields)
	}
}

func (w *writer) fields(level int, fields []Entry) {
	for _, f := range fields {
		w.entry(level, f.Name, f.Def)
	}
}

// wire reads the sections types and records.
func (r *reader) wire(root *schema.Node) (form Wire) {
	for _, t := range r.pairs(root.Get("types")) {
		if t.Value.Kind == schema.ListNode {
			form.Types = append(form.Types, WireType{Name: t.Key, Texts: r.texts(t.Value)})
		} else {
			form.Types = append(form.Types, WireType{Name: t.Key, Fields: r.entries(t.Value)})
		}
	}
	for _, topic := range r.pairs(root.Get("records")) {
		for _, e := range r.pairs(topic.Value) {
			event := WireEvent{Topic: topic.Key, Event: e.Key}
			if e.Value.Kind == schema.MapNode {
				event.Fields = r.entries(e.Value)
			}
			form.Events = append(form.Events, event)
		}
	}
	return form
}

// wireField is an entry taken apart.
type wireField struct {
	name, need, typ, place string // need is "", "optional", "default" or "patch"
}

func takeApart(e Entry) wireField {
	f := wireField{name: e.Name, place: member(e.Name)}
	def := e.Def
	for _, need := range []string{"optional", "default", "patch"} {
		if rest, ok := strings.CutPrefix(def, need+" "); ok {
			f.need, def = need, rest
		}
	}
	typ, place, elsewhere := strings.Cut(def, " at ")
	f.typ = typ
	if elsewhere {
		f.place = place
	}
	return f
}
