// Package messages reads the schemas that a spec names, .proto and .avsc files: what its records
// are packed in, and the fields that events take from there.
//
//	.proto, .avsc -> shape -> fields of events that declare none; the others are held against it
//
// It comes before and after package resolve. It must not import any package of this module but
// avromsg, model, protofile, protomsg and syntax.
package messages

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// All are the messages that values and keys of a spec's topics are.
type All struct {
	spec     *syntax.Spec
	packings map[*syntax.Packing]*read
	made     map[string]string // what types are of that were added to the spec, by name
	problems syntax.Diagnostics
}

// read is one message type.
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
	file = inWords(file)
	a := &All{spec: spec, packings: map[*syntax.Packing]*read{}, made: map[string]string{}}
	for _, t := range spec.Topics {
		if p := t.Payload; p != nil && !p.Broken && a.load(file, &p.Packing, "the messages of topic "+t.Name.Value) {
			a.fill(t, a.packings[&p.Packing].shape)
		}
		if k := t.KeyFormat; k != nil && !k.Broken {
			a.load(file, &k.Packing, "the record keys of topic "+t.Name.Value)
		}
	}
	return a, a.problems
}

// Schemas returns what reads the files of a spec, as package resolve asks for it.
func Schemas(file func(path string) ([]byte, error)) func(*syntax.Spec) (add func(*model.Service) syntax.Diagnostics, problems syntax.Diagnostics) {
	return func(spec *syntax.Spec) (func(*model.Service) syntax.Diagnostics, syntax.Diagnostics) {
		all, problems := Read(spec, file)
		return all.Attach, problems
	}
}

// missing is the error for a file that is not there. The search for imports asks for
// [fs.ErrNotExist], and people read its text, which holds no path of this machine.
type missing struct{}

func (missing) Error() string { return "no such file" }

// Is implements errors.Is.
func (missing) Is(target error) bool { return target == fs.ErrNotExist }

// inWords returns a reader whose error for a missing file has no path.
func inWords(file readFile) readFile {
	return func(path string) ([]byte, error) {
		content, err := file(path)
		if errors.Is(err, fs.ErrNotExist) {
			err = missing{}
		}
		return content, err
	}
}

// load reads the schema of values or keys, and reports whether it has one.
func (a *All) load(file readFile, p *syntax.Packing, whose string) bool {
	if !p.OfMessages() || p.Schema == nil {
		return false
	}
	load := readProto
	if p.Avro() {
		load = readAvro
	}
	path, name := p.SchemaParts()
	is, err := load(file, path, name, p.Framed())
	if err != nil {
		a.problems.Add(p.Schema.Pos, "E117", whose+" cannot be read: "+err.Error(), hintOf(err))
		return false
	}
	a.packings[p] = is
	return true
}

// hintOf says what to do where a file cannot be read.
func hintOf(err error) string {
	if strings.Contains(err.Error(), missing{}.Error()) {
		return "file paths are relative to this spec; imports can also be relative to the folder of the schema, or to a folder above it"
	}
	if strings.Contains(err.Error(), noMessage) {
		return "write the full name of the message, with the package of its file: orders.proto#shop.v1.Order"
	}
	return "an .avsc file is one schema in JSON, with all types that it names; a .proto file may import others"
}

// Attach gives the topics of a model what was read, and compares their fields with it.
func (a *All) Attach(s *model.Service) (problems syntax.Diagnostics) {
	for i, t := range s.Topics {
		a.attachKey(a.spec.Topics[i], t, &problems)
		if a.spec.Topics[i].Payload == nil {
			continue
		}
		is := a.packings[&a.spec.Topics[i].Payload.Packing]
		if is == nil {
			continue
		}
		m := t.Payload.Messages
		is.attach(m)
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
					problems.Add(placeOf(a.spec.Topics[i], e.Name, f.Name), "E118", fmt.Sprintf("field %q of event %s: %s", f.Name, e.Name, why), m.File+" lists the fields and their types; paths use the same names")
				}
			}
		}
	}
	return problems
}

// attachKey attaches what the record keys of a topic are.
func (a *All) attachKey(spec *syntax.Topic, t *model.Topic, problems *syntax.Diagnostics) {
	if spec.KeyFormat == nil || t.RecordKey == nil {
		return
	}
	is := a.packings[&spec.KeyFormat.Packing]
	if is == nil {
		return
	}
	is.attach(t.RecordKey.Messages)
	for i, p := range t.RecordKey.Parts {
		if why := is.shape.misfit(p.Path, p.Type); why != "" {
			problems.Add(spec.RecordKey.Parts[i].Name.Pos, "E118", fmt.Sprintf("part %q of the record key of topic %s: %s", p.Name, t.Name, why), "the members are in "+t.RecordKey.Messages.File)
		}
	}
}

// attach gives the messages of a model what was read.
func (r *read) attach(m *model.Messages) {
	m.Schema, m.Packing, m.Layout, m.Number = r.schema, r.packing, r.layout, r.number
	m.Holds = shapesOfModel{}.of(r.shape)
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
