package state

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/definition"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// form is what records hold: the fields of every event and of the types that they name, each with
// its type and the place where it is read. It tells which records of yesterday the decoders of
// today refuse.
type form struct {
	types  []wireType  // in the order of their first use
	events []wireEvent // in spec order
}

// wireType is an enum with its texts or an object with its members.
type wireType struct {
	name   string
	texts  []string
	fields []wireField
}

// wireEvent is one event.
type wireEvent struct {
	topic, event string
	fields       []wireField
}

// wireField is one field.
type wireField struct {
	name, need, typ, place string // need is "", "optional", "default" or "patch"
}

// formOf returns the form of the records of a service.
func formOf(s *model.Service) (w form) {
	for _, t := range s.Topics {
		for _, e := range t.Events {
			w.events = append(w.events, wireEvent{t.Name, e.Name, w.of(e.Fields)})
		}
	}
	return w
}

// of are fields; the types that they name are added to w.
func (w *form) of(fields []*model.Field) (all []wireField) {
	for _, f := range fields {
		is := wireField{name: f.Name, typ: w.typeName(f.Type), place: placeOf(f)}
		switch {
		case f.Type.Optional:
			is.need = "optional"
		case f.Default != nil:
			is.need = "default"
		case f.Patch:
			is.need = "patch"
		}
		all = append(all, is)
	}
	return all
}

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
func (w *form) typeName(t model.FieldType) string {
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
	if !slices.ContainsFunc(w.types, func(o wireType) bool { return o.name == name }) {
		i := len(w.types)
		w.types = append(w.types, wireType{name: name})
		for _, v := range t.Named.Enum {
			w.types[i].texts = append(w.types[i].texts, v.Text)
		}
		fields := w.of(t.Named.Fields) // may add types
		w.types[i].fields = fields
	}
	return name
}
