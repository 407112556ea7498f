package model

// Payload says how the values of a topic's records are written.
type Payload struct {
	// Encoding is what a record's value is packed in: json_string, protobuf, confluent_protobuf, or
	// "" for nothing. It is unpacked before anything else is read of it.
	Encoding     string
	Messages     *Messages // of protobuf; nil otherwise
	AbsentMarker string    // text that means that a patch field is not there; "" if there is none
}

// Messages are what a topic's values are in protobuf.
type Messages struct {
	File    string // .proto, relative to the spec
	Name    string // of the message
	Framed  bool   // behind what serializers of Confluent's registry write
	Schema  []byte // FileDescriptorSet; nil until the file was read
	Packing Packing
}

// Packing packs JSON into values, and opens them. It is nil until the schema was read.
type Packing interface {
	Pack(object []byte) ([]byte, error)
	Open(into, value []byte) ([]byte, error)
}
