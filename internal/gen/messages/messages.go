// Package messages reads the schemas that a spec names, .proto and .avsc files: what its records
// are packed in, and the fields that events take from there.
//
//	.proto, .avsc -> shape -> fields of events that declare none; the others are held against it
//
// It comes before and after package resolve. It must not import any package of this module but
// avromsg, model, protofile, protomsg and syntax.
package messages

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// All are the messages of a spec's topics.
type All struct {
	spec     *syntax.Spec
	topics   map[string]*read
	made     map[string]string // what types are of that were added to the spec, by name
	problems syntax.Diagnostics
}

// read is the message type of one topic.
type read struct {
	schema  []byte
	packing model.Packing
	shape   *shape
	layout  map[string]string
	number  uint32
}

// readFile reads a file by its path from the spec.
type readFile func(path string) ([]byte, error)

// Read reads the files of a spec; file reads one, by its path from the spec. Events that declare
// no fields get those of their message.
func Read(spec *syntax.Spec, file func(path string) ([]byte, error)) (*All, syntax.Diagnostics) {
	a := &All{spec: spec, topics: map[string]*read{}, made: map[string]string{}}
	for _, t := range spec.Topics {
		p := t.Payload
		if p == nil || p.Broken || !p.OfMessages() || p.Schema == nil {
			continue
		}
		load := readProto
		if p.Avro() {
			load = readAvro
		}
		path, name := p.SchemaParts()
		is, err := load(file, path, name, p.Framed())
		if err != nil {
			a.problems.Add(p.Schema.Pos, "E117", "the messages of topic "+t.Name.Value+" cannot be read: "+err.Error(), hintOf(err))
			continue
		}
		a.topics[t.Name.Value] = is
		a.fill(t, is.shape)
	}
	return a, a.problems
}

// hintOf says what to do where a file cannot be read.
func hintOf(err error) string {
	if strings.Contains(err.Error(), "no such file") {
		return "paths of files are relative to this spec; imports also to the folder of the schema, and to each above it"
	}
	return "an .avsc file is one schema in JSON, with all types that it names; a .proto file may import others"
}

// Attach gives the topics of a model what was read, and compares their fields with it.
func (a *All) Attach(s *model.Service) (problems syntax.Diagnostics) {
	for i, t := range s.Topics {
		is := a.topics[t.Name]
		if is == nil {
			continue
		}
		m := t.Payload.Messages
		m.Schema, m.Packing, m.Layout, m.Number = is.schema, is.packing, is.layout, is.number
		m.Holds = shapesOfModel{}.of(is.shape)
		if len(t.EventType) == 1 && t.EventType[0].Header == "" {
			for _, why := range is.shape.mistyped(t.EventType[0].Path, t.Events) {
				problems.Add(a.spec.Topics[i].EventType[0].Path.Pos, "E118", "event_type of topic "+t.Name+": "+why, "the names are in "+m.File)
			}
		}
		for _, e := range t.Events {
			for _, f := range e.Fields {
				if f.Source.Kind != model.FromPayload {
					continue
				}
				if why := is.shape.misfit(f.Source.Path, f.Type); why != "" {
					problems.Add(placeOf(a.spec.Topics[i], e.Name, f.Name), "E118", fmt.Sprintf("field %q of event %s: %s", f.Name, e.Name, why), "the fields of a message are in "+m.File+"; its members have the same names in a path")
				}
			}
		}
	}
	return problems
}

// placeOf is where the spec declares a field; that of the schema if it does not.
func placeOf(t *syntax.Topic, event, field string) syntax.Pos {
	for _, e := range t.Events {
		if e.Name.Value != event {
			continue
		}
		for _, f := range append(append([]*syntax.Field{}, e.Fields...), t.Fields...) {
			if f.Name.Value == field {
				return f.Name.Pos
			}
		}
		if e.FieldsType != nil {
			return e.FieldsType.Pos
		}
	}
	return t.Payload.Schema.Pos
}
