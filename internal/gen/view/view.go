// Package view shows records as a spec reads them: the payload as JSON, whatever it is encoded in,
// without the values that the spec calls sensitive. Web pages and commands that show records to
// people use it. It must not import any package of this module but eventkey, explain, frame,
// messages, model, record, resolve, visible and wire.
package view

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/frame"
	"github.com/idemgen/idemgen/internal/gen/eventkey"
	"github.com/idemgen/idemgen/internal/gen/explain"
	"github.com/idemgen/idemgen/internal/gen/messages"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/wire"
)

// SpecFile is the name of the spec in its folder.
const SpecFile = "idemgen.yaml"

// Spec is what is known of a service from its spec.
type Spec struct {
	service *model.Service
	hidden  map[string]*secrets // by topic and event, of records
	results map[string]*secrets // the same, of what effects return
}

// Read reads the spec of a folder, and the schemas that it names.
func Read(folder fs.FS) (*Spec, error) {
	content, err := regular(folder, SpecFile)
	if err != nil {
		return nil, err
	}
	service, err := resolve.Service(SpecFile, content, messages.Schemas(func(path string) ([]byte, error) { return regular(folder, path) }))
	if err != nil {
		return nil, err
	}
	return New(service), nil
}

// regular reads a file that is one: nobody may write the other end of a pipe.
func regular(folder fs.FS, path string) ([]byte, error) {
	info, err := fs.Stat(folder, path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(folder, path)
}

// New returns what is known from a spec that was read already.
func New(service *model.Service) *Spec {
	s := &Spec{service: service, hidden: map[string]*secrets{}, results: map[string]*secrets{}}
	for _, t := range service.Topics {
		all, results := newSecrets(), newSecrets()
		s.hidden[t.Name+"\x00"], s.results[t.Name+"\x00"] = all, results
		for _, e := range t.Events {
			of, result := newSecrets(), newSecrets()
			s.hidden[t.Name+"\x00"+e.Name], s.results[t.Name+"\x00"+e.Name] = of, result
			of.event(t, e)
			all.event(t, e)
			for _, r := range []*secrets{result, results} { // a call may return what it was given
				r.event(t, e)
				r.result(e)
			}
		}
	}
	return s
}

// Consumer returns the name of the consumer.
func (s *Spec) Consumer() string { return s.service.Consumer }

// Guarantees describes, in sentences, what the spec guarantees for each event.
func (s *Spec) Guarantees() []explain.Topic { return explain.Service(s.service) }

// Topic reports whether an entry of topics reads the topic, and returns the names of its events
// and of the parts of their keys.
func (s *Spec) Topic(name string) (events, parts []string, found bool) {
	t := s.topic(name)
	if t == nil {
		return nil, nil, false
	}
	for _, e := range t.Events {
		events = append(events, e.Name)
		for _, p := range e.Key.Parts {
			part := p.Header
			if p.Field != nil {
				part = p.Field.Name
			}
			if !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return events, parts, true
}

// Keys returns the idempotency keys of a topic's events that have just these parts, given by their
// names.
func (s *Spec) Keys(topic, event string, parts []eventkey.Value) ([]record.EventKey, error) {
	return eventkey.Of(s.service, topic, event, parts)
}

func (s *Spec) topic(name string) *model.Topic {
	for _, t := range s.service.Topics {
		if t.Name == name || slices.Contains(t.Kafka, name) {
			return t
		}
	}
	return nil
}

// Shown is a record as people may see it.
type Shown struct {
	Key      string // the record key; JSON is indented
	WholeKey bool   // Key is shown, and nothing of it was replaced
	Headers  []Header
	Payload  string // indented JSON, or another text; "" if Hidden says why it is not shown
	Hidden   string // why the payload is not shown, or not as it is
	Masked   bool   // a sensitive value was replaced
	Raw      bool   // the bytes may be given to people as they are: they hold nothing sensitive
}

// Header is a header of a record.
type Header struct{ Name, Value string }

// Redacted stands for a value that people must not see.
const Redacted = "[sensitive]"

// Show returns a record of a topic as people may see it. event is its name in the spec, or "" if
// it is not known: then what any event of the topic calls sensitive is hidden. Without a spec, or
// for a topic that it does not have, everything is hidden.
func (s *Spec) Show(topic, event string, m *wire.Message) Shown {
	if s == nil {
		return nothing(m, "no spec here defines which values are sensitive")
	}
	t := s.topic(topic)
	if t == nil {
		return nothing(m, fmt.Sprintf("the spec of %s has no topic %s", s.service.Consumer, topic))
	}
	hide := of(s.hidden, t, event)
	out := Shown{Raw: hide.none()}
	show := func(value []byte, sensitive bool) (shown string, masked bool) {
		if shown, masked = Redacted, true; !sensitive {
			shown, masked = hide.text(value)
		}
		out.Masked = out.Masked || masked
		return shown, masked
	}
	for _, h := range m.Headers {
		value, _ := show(binaryText(t.BinaryHeader(h.Name), h.Value), hide.headers[strings.ToLower(h.Name)])
		out.Headers = append(out.Headers, Header{h.Name, value})
	}
	if m.Key != nil {
		var masked bool
		out.Key, masked = show(openKey(t, m.Headers, m.Key), hide.key)
		out.WholeKey = !masked
	}
	out.payload(t, hide, m.Headers, m.Value)
	return out
}

// of returns what is sensitive of an event; of a topic's events in all if the event is not known.
func of(all map[string]*secrets, t *model.Topic, event string) *secrets {
	if hide := all[t.Name+"\x00"+event]; hide != nil {
		return hide
	}
	return all[t.Name+"\x00"]
}

// Result returns what the effect of an event returned as people may see it; "" without a spec, or
// for a topic that it does not have.
func (s *Spec) Result(topic, event string, result []byte) string {
	if s == nil || s.topic(topic) == nil {
		return ""
	}
	hide := of(s.results, s.topic(topic), event)
	if hide.whole {
		return Redacted
	}
	shown, _ := hide.text(result)
	return shown
}

// Response returns what the other side answered to a call as people may see it; "" without a spec,
// or for a topic that it does not have. It may be cut, and may quote the record or what a call
// returns: JSON is shown without the members that either calls sensitive, and any other text only
// if neither has some.
func (s *Spec) Response(topic, event string, response []byte) string {
	if s == nil || s.topic(topic) == nil {
		return ""
	}
	t := s.topic(topic)
	for _, hide := range []*secrets{of(s.hidden, t, event), of(s.results, t, event)} {
		if hide.none() {
			continue
		}
		shown, masked, err := hide.json(trimmed(response))
		if err != nil || hide.whole {
			return Redacted
		}
		if masked {
			response = []byte(shown)
		}
	}
	return text(response)
}

// Open returns the JSON that a value of a topic holds, with whatever is sensitive, and whether it
// is encoded in another way. An error says why the value cannot be read.
func (s *Spec) Open(topic string, headers []wire.Header, value []byte) (object []byte, packed bool, err error) {
	t := s.topic(topic)
	if t == nil || t.Payload.Encoding == "" {
		return value, false, nil
	}
	object, err = open(&t.Payload.Packed, frame.Header, headers, value)
	return object, true, err
}

// payload fills in the payload.
func (o *Shown) payload(t *model.Topic, hide *secrets, headers []wire.Header, value []byte) {
	if value == nil {
		o.Hidden = "none: it is a tombstone"
		return
	}
	if hide.whole {
		o.Payload, o.Masked = Redacted, true
		return
	}
	object, err := open(&t.Payload.Packed, frame.Header, headers, value)
	if err == nil {
		var masked bool
		if o.Payload, masked, err = hide.json(object); err == nil {
			o.Masked = o.Masked || masked
			return
		}
	}
	if hide.none() {
		o.Payload, o.Hidden = text(value), "it cannot be decoded: "+err.Error()
		return
	}
	o.Hidden = "it cannot be decoded, and the spec marks values of it as sensitive: " + err.Error()
}

// openKey returns the text or the JSON that a record key holds, or the key if it holds none.
func openKey(t *model.Topic, headers []wire.Header, key []byte) []byte {
	if t.RecordKey == nil || key == nil {
		return key
	}
	if t.RecordKey.Encoding == "binary" && len(t.RecordKey.Parts) == 1 {
		return binaryText(t.RecordKey.Parts[0].Type.Kind, key)
	}
	if object, err := open(&t.RecordKey.Packed, frame.KeyHeader, headers, key); err == nil {
		return object
	}
	return key
}

// binaryText is the text of a big-endian number or of a UUID.
func binaryText(kind model.Kind, key []byte) []byte {
	switch {
	case kind == model.Int32 && len(key) == 4:
		return strconv.AppendInt(nil, int64(int32(binary.BigEndian.Uint32(key))), 10)
	case kind == model.Int64 && len(key) == 8:
		return strconv.AppendInt(nil, int64(binary.BigEndian.Uint64(key)), 10)
	case kind == model.UUID && len(key) == 16:
		return []byte(wire.UUID(key).String())
	}
	return key
}

// open returns the JSON that a value or a key holds; header may name its schema.
func open(p *model.Packed, header string, headers []wire.Header, value []byte) ([]byte, error) {
	value = framed(p, header, headers, value)
	if m := p.Messages; m != nil && m.Packing != nil {
		return m.Packing.Open(nil, value)
	}
	switch p.Encoding {
	case "json_string":
		var inner string
		if json.Unmarshal(value, &inner) != nil {
			return nil, errors.New("it is not a JSON string")
		}
		return []byte(inner), nil
	case "confluent_json":
		_, inner, err := frame.Split(value)
		return inner, err
	}
	return value, nil
}

// framed returns a value or a key with the prefix that its serializer would have written if it had
// not put the schema into a header. A GUID becomes any number.
func framed(p *model.Packed, header string, headers []wire.Header, value []byte) []byte {
	for _, h := range headers {
		if h.Name != header || !strings.HasPrefix(p.Encoding, "confluent_") {
			continue
		}
		schema, place, err := frame.NamedWithPlace(header, h.Value)
		if p.Encoding != "confluent_protobuf" && err == nil {
			schema, err = frame.Named(header, h.Value)
		}
		if m := p.Messages; m != nil && m.Avro {
			schema.Number = m.Number
		}
		if err == nil {
			return slices.Concat(frame.Append(nil, max(1, schema.Number)), place, value)
		}
	}
	return value
}

// nothing shows only what is there.
func nothing(m *wire.Message, why string) Shown {
	out := Shown{Hidden: why, Masked: true}
	if m.Key != nil {
		out.Key = Redacted
	}
	for _, h := range m.Headers {
		out.Headers = append(out.Headers, Header{h.Name, Redacted})
	}
	return out
}
