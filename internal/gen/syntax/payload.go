package syntax

import (
	"slices"
	"strings"
)

// Payload says how the values of a topic's records are written.
type Payload struct {
	Key    Pos
	Pos    Pos
	Naming *Text // snake_case or camelCase
	Root   *Path // where paths start
	Marker *Text // absent_marker
	// Encoding is what values are packed in: one of payloadEncodings.
	Encoding *Text
	Schema   *Text // of messages: a .proto or .avsc file, # and a name in it
	Broken   bool
}

var payloadKeys = keys[Payload]{
	{name: "naming", value: put(shape{words: payloadNamings}, func(p *Payload) **Text { return &p.Naming }, readNaming)},
	{name: "root", value: pathOfMembers(func(p *Payload) **Path { return &p.Root })},
	{name: "absent_marker", value: put(scalarShape, func(p *Payload) **Text { return &p.Marker }, readMarker)},
	{name: "encoding", value: put(shape{words: payloadEncodings}, func(p *Payload) **Text { return &p.Encoding }, readEncoding)},
	{name: "schema", value: put(scalarShape, func(p *Payload) **Text { return &p.Schema }, readSchemaName)},
	{name: "format", instead: "leave it out: values are JSON, and {type: bytes, record: value} reads any other one as it is"},
	{name: "unknown_members", instead: "leave it out: members that are not declared are ignored"},
}

var payloadNamings = []string{"snake_case", "camelCase"}

// readNaming reads a naming, and says what to write where members are spelled by another one.
func readNaming(w *walker, e entry) (*Text, bool) {
	if n := e.node; n.Kind == ScalarNode && slices.Contains([]string{"PascalCase", "kebab-case"}, n.Text) {
		w.ds.Add(n.Pos, "E111", e.what+" cannot be "+quote(n.Text), "write the path of each field: order_id: {type: uuid, path: OrderId}")
		return nil, false
	}
	return w.word(e, payloadNamings)
}

var payloadEncodings = []string{"plain", "json_string", "confluent_json", "avro", "confluent_avro", "protobuf", "confluent_protobuf"}

// OfMessages reports whether values are messages of a schema.
func (p *Payload) OfMessages() bool {
	return p.Encoding != nil && slices.Contains(payloadEncodings[3:], p.Encoding.Value)
}

// Framed reports whether values are behind what serializers of Confluent's registry write.
func (p *Payload) Framed() bool { return strings.HasPrefix(p.Encoding.Value, "confluent_") }

// Avro reports whether values are written in Avro.
func (p *Payload) Avro() bool { return strings.HasSuffix(p.Encoding.Value, "avro") }

// SchemaParts are the file of the schema, and the name of what is meant in it, "" for all of it.
func (p *Payload) SchemaParts() (file, name string) {
	file, name, _ = strings.Cut(p.Schema.Value, "#")
	return file, name
}

// readSchemaName reads the name of a message in a file.
func readSchemaName(w *walker, e entry) (*Text, bool) {
	t, ok := w.full(e)
	if !ok {
		return t, false
	}
	file, message, named := strings.Cut(t.Value, "#")
	if !strings.HasSuffix(file, ".proto") && !strings.HasSuffix(file, ".avsc") || message == "" && (named || strings.HasSuffix(file, ".proto")) {
		w.ds.Add(t.Pos, "E108", e.what+" names no schema: "+quote(t.Value), "write the file, relative to this spec, and what is meant in it: schema: proto/orders.proto#shop.v1.Order or schema: avro/order.avsc")
		return nil, false
	}
	return t, true
}

// readEncoding reads an encoding, and says what to write instead of gzip.
func readEncoding(w *walker, e entry) (*Text, bool) {
	if n := e.node; n.Kind == ScalarNode && n.Text == "gzip" {
		w.ds.Add(n.Pos, "E111", e.what+" cannot be "+quote(n.Text), "Kafka's own compression needs no key; else read the value by {type: bytes, record: value}, and unpack it in Go code")
		return nil, false
	}
	return w.word(e, payloadEncodings)
}

// readMarker reads a text that means that a value is not there. A number might be meant as one.
func readMarker(w *walker, e entry) (*Text, bool) {
	t, ok := w.full(e)
	if ok && (t.Value[0] == '-' || t.Value[0] >= '0' && t.Value[0] <= '9') {
		w.ds.Add(t.Pos, "E108", e.what+" begins like a number: "+quote(t.Value), "a marker is a text that no value can be")
		return nil, false
	}
	return t, ok
}

func readPayload(w *walker, e entry) (*Payload, bool) {
	p := &Payload{Key: e.key, Pos: e.node.Pos}
	p.Broken = !walkMap(w, e, payloadKeys, p)
	switch {
	case p.Broken:
	case p.OfMessages() && p.Schema == nil:
		w.ds.Add(p.Encoding.Pos, "E105", "payload lacks the key \"schema\", which says what the messages are", "for example schema: proto/orders.proto#shop.v1.Order or schema: avro/order.avsc")
		p.Broken = true
	case p.Schema != nil && !p.OfMessages():
		w.ds.Add(p.Schema.Key, "E110", "schema is of payloads in Avro or Protobuf", "values are JSON otherwise, and the fields say what is in them; else say encoding: confluent_avro, for example")
		p.Broken = true
	case p.Schema != nil:
		if file, _ := p.SchemaParts(); p.Avro() != strings.HasSuffix(file, ".avsc") {
			w.ds.Add(p.Schema.Pos, "E110", "schema names "+file+", and the encoding is "+p.Encoding.Value, "schemas of Avro are in .avsc files, and those of Protobuf in .proto files")
			p.Broken = true
		}
	}
	return p, true
}
