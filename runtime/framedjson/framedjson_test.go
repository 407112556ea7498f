package framedjson

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// A value as Confluent's JSON Schema serializer writes it is unpacked to its JSON, and what has no
// prefix is a decode error that quotes nothing of it.
func TestAValueIsUnpackedToItsJSON(t *testing.T) {
	m := wire.Message{Offset: 7, Value: []byte("\x00\x00\x01\x86\xa1" + `{"orderId":"o-1","total":12.50}`)}
	opened, err := (Encoding{}).Open(&m)
	if err != nil || string(opened.Value) != `{"orderId":"o-1","total":12.50}` || opened.Offset != 7 || !opened.IsUnpacked() {
		t.Errorf("%+v, %v", opened, err)
	}
	gone := &wire.Message{}
	if opened, err := (Encoding{}).Open(gone); opened != gone || err != nil {
		t.Errorf("a record without a value: %+v, %v", opened, err)
	}
	if opened, err := (Encoding{}).Open(&wire.Message{Value: []byte("\x00\x00\x00\x00\x01")}); err != nil || opened.Value == nil || len(opened.Value) > 0 {
		t.Errorf("a prefix alone: %+v, %v", opened, err)
	}
	for bad, want := range map[string]string{
		"":                                "does not begin with a zero byte and a schema id",
		`{"orderId":"o-1"}`:               "begins like JSON, not with a zero byte and a schema id",
		"\x00\x00\x00\x01":                "does not begin with a zero byte and a schema id",
		"\x01\x00\x00\x00\x01{}":          "does not begin with a zero byte and a schema id",
		"\x03\x00ABCDEFGHabcdefgh" + "{}": "begins with the 18 bytes of AWS Glue's schema registry, not with a zero byte and a schema id",
	} {
		if _, err := (Encoding{}).Open(&wire.Message{Value: []byte(bad)}); err == nil || err.Error() != "decode: cannot be read: it "+want {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A header names the schema in place of the prefix: then the value has none.
func TestASchemaMayBeNamedInAHeader(t *testing.T) {
	guid := "\x01ABCDEFGHabcdefgh"
	for header, want := range map[string]string{"\x00\x00\x01\x86\xa1": "", guid: "", guid + "x": "decode: cannot be read: header __value_schema_id is longer than the id or the GUID of a schema", "\x01short": "decode: cannot be read: header __value_schema_id is neither a zero byte and a schema id nor a byte 1 and a schema GUID"} {
		m := wire.Message{Value: []byte(`{"orderId":"o-1"}`), Headers: []wire.Header{{Name: "__value_schema_id", Value: []byte(header)}}}
		opened, err := (Encoding{}).Open(&m)
		if want == "" && (err != nil || string(opened.Value) != string(m.Value)) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %+v, %v", header, opened, err)
		}
	}
	twice := []wire.Header{{Name: "__value_schema_id", Value: []byte(guid)}, {Name: "__value_schema_id", Value: []byte(guid)}}
	if _, err := (Encoding{}).Open(&wire.Message{Value: []byte(`{}`), Headers: twice}); err == nil {
		t.Error("two headers are read")
	}
}

// A record key is unpacked as a value is.
func TestAKeyIsUnpackedToItsJSON(t *testing.T) {
	for key, want := range map[string]string{"\x00\x00\x00\x00\x01\"a\"": `"a"`, "a": "decode: record key cannot be read: it does not begin with a zero byte and a schema id"} {
		m := &wire.Message{Key: []byte(key), Value: []byte("v")}
		opened, err := (KeyEncoding{}).Open(m)
		if err != nil && err.Error() != want || err == nil && (string(opened.Key) != want || string(opened.Value) != "v") {
			t.Errorf("%q: %+v, %v", key, opened, err)
		}
	}
}
