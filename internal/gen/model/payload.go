package model

// Packed says what the values or the keys of a topic's records are packed in.
type Packed struct {
	// Encoding is json_string or binary, confluent_json, avro, protobuf, either of these with
	// confluent_ before it, or "" for nothing. It is unpacked first.
	Encoding string
	Messages *Messages // of Avro and Protobuf; nil otherwise
}

// Payload says how the values of a topic's records are written.
type Payload struct {
	Packed
	AbsentMarker string // text that means that a patch field is not there; "" if there is none
}

// Messages are what values or keys are in a format that has schemas.
type Messages struct {
	File    string // .proto or .avsc, relative to the spec
	Name    string // of the message; "" for all of an .avsc file
	Avro    bool   // else Protobuf
	Framed  bool   // behind what serializers of Confluent's registry write
	Schema  []byte // the .avsc file, or a FileDescriptorSet; nil until the file was read
	Packing Packing
	Number  uint32 // of the schema in frames that Packing makes of Avro
	// Layout is what of the schema reading a value rests on that was written before: of Protobuf by
	// field, of Avro that is not framed as a whole, under "".
	Layout map[string]string
	Holds  *Shape // what a value may hold; nil until the schema was read
}

// Packing packs JSON into values, and opens them. It is nil until the schema was read.
type Packing interface {
	Pack(object []byte) ([]byte, error)
	Open(into, value []byte) ([]byte, error)
	// Why says of values in what Open returns, by their positions, why a field cannot read them.
	Why(value []byte) map[int]string
}

// Registry reports whether the schemas that they were written with are read from a registry.
func (m *Messages) Registry() bool { return m != nil && m.Avro && m.Framed }

// Unpacks reports whether bytes become a JSON document before they are read.
func (p *Packed) Unpacks() bool { return p.Encoding != "" && p.Encoding != "binary" }

// OfRegistry are those of a topic's values and keys whose schemas are read from a registry.
func (t *Topic) OfRegistry() (all []*Messages) {
	if m := t.Payload.Messages; m.Registry() {
		all = append(all, m)
	}
	if t.RecordKey != nil && t.RecordKey.Messages.Registry() {
		all = append(all, t.RecordKey.Messages)
	}
	return all
}
