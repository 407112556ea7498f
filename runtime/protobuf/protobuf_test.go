package protobuf_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/protofile"
	"github.com/idemgen/idemgen/runtime/protobuf"
	"github.com/idemgen/idemgen/runtime/wire"
)

// The schema of a message may be named in a header, with the place of the message in its file.
// Then the value has no prefix.
func TestASchemaMayBeNamedInAHeader(t *testing.T) {
	set, err := protofile.Compile(func(path string) ([]byte, error) {
		if path != "o.proto" {
			return nil, errors.New("no such file")
		}
		return []byte(`syntax = "proto3"; message First { string id = 1; } message Order { string id = 1; }`), nil
	}, "o.proto")
	if err != nil {
		t.Fatal(err)
	}
	e := protobuf.Encoding{Message: protobuf.New(base64.StdEncoding.EncodeToString(set), "Order", true)}
	const malformed = "decode: cannot be read: the message indexes after the schema id are malformed"
	const value, guid = "\n\x01a", "\x01ABCDEFGHabcdefgh"
	for _, c := range []struct{ header, value, want string }{
		{"\x00\x00\x00\x00\x07\x02\x02", value, `{"id":"a"}`},
		{guid + "\x02\x02", value, `{"id":"a"}`},
		{guid + "\x00", value, "decode: cannot be read: it is another message of the file, not Order"},
		{guid, value, malformed},
		{guid + "\x02\x02\x00", value, malformed},
		{"\x02\x02", value, "decode: cannot be read: header __value_schema_id is neither a zero byte and a schema id nor a byte 1 and a schema GUID"},
		{"", "\x00\x00\x00\x00\x07\x02\x02" + value, `{"id":"a"}`},
		{"", "\x00\x00\x00\x00\x00\x00\x00\x00\x07" + value, "decode: cannot be read: it begins with a zero byte and a schema id of 8 bytes, as Apicurio's serializers may write it, not with one of 4 bytes: set their apicurio.registry.as-confluent"},
		{"", "\x03\x05ABCDEFGHabcdefgh" + value, "decode: cannot be read: it begins with the 18 bytes of AWS Glue's schema registry, not with a zero byte and a schema id"},
	} {
		m := wire.Message{Value: []byte(c.value)}
		if c.header != "" {
			m.Headers = []wire.Header{{Name: "__value_schema_id", Value: []byte(c.header)}}
		}
		opened, err := e.Open(&m)
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = string(opened.Value)
		}
		if got != c.want {
			t.Errorf("%q, header %q: %s, want %s", c.value, c.header, got, c.want)
		}
	}
	named := wire.Header{Name: "__value_schema_id", Value: []byte(guid + "\x02\x02")}
	_, err = e.Open(&wire.Message{Value: []byte(value), Headers: []wire.Header{named, named}})
	if err == nil || err.Error() != "decode: header __value_schema_id occurs 2 times" {
		t.Errorf("the header twice: %v", err)
	}
}
