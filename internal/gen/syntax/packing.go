package syntax

import (
	"strings"
)

// Packing is what the values or the keys of a topic's records are packed in.
type Packing struct {
	Encoding *Text
	Schema   *Text // of messages: a .proto or .avsc file, # and a name in it
}

// KeyFormat says how the keys of a topic's records are written.
type KeyFormat struct {
	Key Pos
	Pos Pos
	Packing
	Broken bool
}

func readKeyFormat(w *walker, e entry) (*KeyFormat, bool) {
	k := &KeyFormat{Key: e.key, Pos: e.node.Pos}
	k.Broken = !walkMap(w, e, keyFormatKeys, k)
	k.Broken = k.Broken || !k.checkSchema(w, "record_key_format")
	return k, true
}

// Encoded is the encoding; "" if there is none.
func (p *Packing) Encoded() string {
	if p.Encoding == nil || p.Encoding.Value == "plain" {
		return ""
	}
	return p.Encoding.Value
}

// OfMessages reports whether they are messages of a schema.
func (p *Packing) OfMessages() bool {
	return strings.HasSuffix(p.Encoded(), "avro") || strings.HasSuffix(p.Encoded(), "protobuf")
}

// Framed reports whether they are behind what serializers of Confluent's registry write.
func (p *Packing) Framed() bool { return strings.HasPrefix(p.Encoded(), "confluent_") }

// Avro reports whether they are written in Avro.
func (p *Packing) Avro() bool { return strings.HasSuffix(p.Encoded(), "avro") }

// SchemaParts are the file of the schema, and the name of what is meant in it, "" for all of it.
func (p *Packing) SchemaParts() (file, name string) {
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
		w.ds.Add(t.Pos, "E108", e.what+" does not name a schema: "+quote(t.Value), "write the file, relative to this spec, and the name in it: schema: proto/orders.proto#shop.v1.Order or schema: avro/order.avsc")
		return nil, false
	}
	return t, true
}

// encodingValue reads an encoding, and says what to write instead of gzip.
func encodingValue[T any](words []string, at func(*T) **Text) value[T] {
	return put(Shape{Words: words}, at, func(w *walker, e entry) (*Text, bool) {
		if n := e.node; n.Kind == ScalarNode && n.Text == "gzip" {
			w.ds.Add(n.Pos, "E111", e.what+" cannot be "+quote(n.Text), "Kafka's own compression needs no key; for anything else, read the value by {type: bytes, record: value}, and unpack it in Go code")
			return nil, false
		}
		return w.word(e, words)
	})
}

// checkSchema reports a schema that is missing, or has no place here.
func (p *Packing) checkSchema(w *walker, what string) bool {
	switch {
	case p.OfMessages() && p.Schema == nil:
		w.ds.Add(p.Encoding.Pos, "E105", what+" lacks the key \"schema\", which describes the messages", "for example schema: proto/orders.proto#shop.v1.Order or schema: avro/order.avsc")
	case p.Schema != nil && !p.OfMessages():
		w.ds.Add(p.Schema.Key, "E110", "schema can only be used with Avro and Protobuf", "leave it out: other encodings need only the types of the fields; or write, for example, encoding: confluent_avro")
	case p.Schema != nil:
		file, _ := p.SchemaParts()
		if p.Avro() == strings.HasSuffix(file, ".avsc") {
			return true
		}
		w.ds.Add(p.Schema.Pos, "E110", "schema names "+file+", but the encoding is "+p.Encoding.Value, "Avro schemas are in .avsc files, and Protobuf schemas in .proto files")
	default:
		return true
	}
	return false
}
