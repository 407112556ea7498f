package messages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// shape is what a value of a message may be, whatever its file is written in.
type shape struct {
	says    string       // its type as the file has it
	kinds   []model.Kind // of the types that read it, the usual one first; none if json alone does
	name    string       // of the type that a spec has for it, if it is an object or an enum
	members []member     // of an object
	symbols []string     // of an enum, or the names of the members that a member tells
	elem    *shape       // of a list or a map
	nulls   bool         // what is in a list or a map may be null
	number  bool         // a moment or a day is a number of units, and not a text
}

// member is a field of an object.
type member struct {
	name     string
	optional bool // it may not be there
	told     bool // it only says which of the other members is there
	is       *shape
}

func (s *shape) member(name string) *member {
	if i := slices.IndexFunc(s.members, func(m member) bool { return m.name == name }); i >= 0 {
		return &s.members[i]
	}
	return nil
}

func (s *shape) object() bool { return slices.Contains(s.kinds, model.Object) }

// below is the object at a path; nil if there is none.
func (s *shape) below(path []string) *shape {
	for _, name := range path {
		m := s.member(name)
		if m == nil || !m.is.object() {
			return nil
		}
		s = m.is
	}
	return s
}

// misfit says why a field cannot be read from a place of a message; "" if it can.
func (s *shape) misfit(path []string, t model.FieldType) string {
	for i, name := range path {
		m := s.member(name)
		switch {
		case m == nil:
			return fmt.Sprintf("%s has no field %s%s", s.says, name, s.spelled(name))
		case i == len(path)-1:
			return m.is.unlike(name, t)
		case !m.is.object():
			return fmt.Sprintf("field %s of %s has no fields", name, s.says)
		}
		s = m.is
	}
	return s.unlike("the message", t)
}

// spelled says how a field is spelled that is there.
func (s *shape) spelled(name string) string {
	for _, m := range s.members {
		if m.name != name && syntax.FieldName(m.name) == syntax.FieldName(name) {
			return fmt.Sprintf("; it has %s: change naming, or write its path", m.name)
		}
	}
	return ""
}

// unlike says why a value cannot have a type of a spec; "" if it can.
func (s *shape) unlike(name string, t model.FieldType) string {
	switch {
	case t.Kind == model.JSON || len(s.kinds) == 0:
		return ""
	case !slices.Contains(s.kinds, t.Kind):
		return fmt.Sprintf("%s is %s, which can be read as %s, but not as %s", name, s.says, words[s.kinds[0]], words[t.Kind])
	case t.Kind == model.List || t.Kind == model.Map:
		return s.elem.unlike(name, *t.Elem)
	case (t.Kind == model.Timestamp || t.Kind == model.Date) && s.number && t.Notation == model.Usual:
		return fmt.Sprintf("%s is %s, a number, which can be read as epoch_s and similar types, but not as %s", name, s.says, words[t.Kind])
	case s.kinds[0] == t.Kind && t.Notation != model.Usual:
		return fmt.Sprintf("%s is %s, which can be read as %s, whatever its unit", name, s.says, words[t.Kind])
	case t.Notation == model.Array || t.Notation == model.WithScale:
		return fmt.Sprintf("%s is %s, and values of the type are an array or an object in JSON", name, s.says)
	case t.Kind == model.Enum && len(s.symbols) > 0 && !slices.ContainsFunc(t.Named.Enum, func(v model.EnumValue) bool { return slices.Contains(s.symbols, v.Text) }):
		return fmt.Sprintf("%s is %s, which has none of the values of %s: it has %s", name, s.says, t.Named.Name, strings.Join(s.symbols, ", "))
	case t.Kind == model.Object:
		for _, f := range t.Named.Fields {
			if why := s.misfit(f.Source.Path, f.Type); why != "" {
				return why
			}
		}
	}
	return ""
}

// at is the value at a path; nil if there is none.
func (s *shape) at(path []string) *shape {
	for _, name := range path {
		m := s.member(name)
		if m == nil {
			return nil
		}
		s = m.is
	}
	return s
}

// mistyped says why events cannot be told by the text at a path.
func (s *shape) mistyped(path []string, events []*model.Event) (why []string) {
	is := s.at(path)
	if is == nil {
		return []string{fmt.Sprintf("%s has no field %s%s", s.says, strings.Join(path, "."), s.spelled(path[0]))}
	}
	if len(is.symbols) == 0 && !slices.Contains(is.kinds, model.String) && len(is.kinds) > 0 {
		return []string{fmt.Sprintf("%s is %s, but only a string or an enum can identify events", strings.Join(path, "."), is.says)}
	}
	if len(is.symbols) == 0 {
		return nil
	}
	for _, e := range events {
		if text := is.mistypes(path, e); text != "" {
			why = append(why, text)
		}
	}
	return why
}

// mistypes says why the text at a path, which is one of the symbols, is never that of an event; ""
// if it is.
func (s *shape) mistypes(path []string, e *model.Event) string {
	for _, text := range e.Types {
		if !slices.Contains(s.symbols, text) {
			return fmt.Sprintf("event %s has type %q, and %s is one of %s", e.Name, text, strings.Join(path, "."), strings.Join(s.symbols, ", "))
		}
	}
	parent := len(path) - 1
	for _, f := range e.Fields {
		if p := f.Source.Path; f.Source.Kind == model.FromPayload && len(p) > parent && slices.Equal(p[:parent], path[:parent]) && slices.Contains(s.symbols, p[parent]) && !slices.Contains(e.Types, p[parent]) {
			return fmt.Sprintf("field %s of event %s is in %s, which is absent in a record of type %s", f.Name, e.Name, p[parent], strings.Join(e.Types, " or "))
		}
	}
	return ""
}

// words are types for people.
var words = map[model.Kind]string{
	model.String: "string", model.UUID: "uuid", model.Bool: "bool", model.Int32: "int32", model.Int64: "int64", model.Float64: "float64",
	model.Decimal: "decimal", model.Timestamp: "timestamp", model.Date: "date", model.Bytes: "bytes", model.JSON: "json",
	model.Enum: "an enum", model.Object: "an object", model.List: "a list", model.Map: "a map", model.LocalTimestamp: "local_timestamp",
}

// texts are the types that read a text of a message.
var texts = []model.Kind{model.String, model.UUID, model.Decimal, model.Enum, model.Timestamp, model.LocalTimestamp, model.Date, model.Bytes, model.Int32, model.Int64}

// short is a name without what it is in.
func short(full string) string { return full[strings.LastIndex(full, ".")+1:] }

// shapesOfModel are the shapes of the model by those that were read: one may hold itself.
type shapesOfModel map[*shape]*model.Shape

func (all shapesOfModel) of(s *shape) *model.Shape {
	if s == nil {
		return nil
	}
	if all[s] != nil {
		return all[s]
	}
	out := &model.Shape{Says: s.says, Kind: model.JSON}
	all[s] = out
	if len(s.kinds) > 0 {
		out.Kind = s.kinds[0]
	}
	if s.object() {
		out.Members = map[string]*model.Shape{}
	}
	for _, m := range s.members {
		out.Members[m.name] = all.of(m.is)
	}
	out.Elem = all.of(s.elem)
	return out
}
