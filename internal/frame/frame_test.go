package frame

import (
	"strings"
	"testing"
)

// A prefix that was written is read, and a reason says what a value begins with in its place.
func TestAPrefixIsThereOrNot(t *testing.T) {
	value := append(Append(nil, 0x01020304), "rest"...)
	if string(value) != "\x00\x01\x02\x03\x04rest" {
		t.Errorf("written: %q", value)
	}
	if s, rest, err := Split(value); err != nil || s != (Schema{Number: 0x01020304}) || string(rest) != "rest" {
		t.Errorf("%v, %q, %v", s, rest, err)
	}
	const guid = "\xb7\xad\x6b\x7fSGUIDrestABCD"
	for bad, want := range map[string]error{
		"": ErrNone, "\x00\x00\x00\x00": ErrNone, "\x01\x00\x00\x00\x00x": ErrNone, "\x03\x00" + guid[:15]: ErrNone, "\x03\x01" + guid: ErrNone,
		`{"a":1}`: errJSON, "[1]": errJSON,
		"\x03\x00" + guid[:16]: errGlue, "\x03\x05" + guid: errGlue,
		"\x00\x00\x00\x00\x00\x00\x00\x00\x07value": errApicurio,
		"\x00\x00\x00\x00\x00":                      errZero, "\x00\x00\x00\x00\x00{}": errZero,
	} {
		if _, _, err := Split([]byte(bad)); err != want {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A header names a schema by its number or by its GUID, and what follows is the place of a message
// or an error. No schema is 0.
func TestAHeaderNamesASchema(t *testing.T) {
	const guid = "\x89\x79\x12\xab\xcd\xef\x40\x11\x88\x99\x01\x02\x03\x04\x05\x06"
	for _, c := range []struct{ header, schema, rest string }{
		{"\x00\x00\x01\x86\xa1", "100001", ""},
		{"\x00\x00\x00\x00\x07\x02\x02", "7", "\x02\x02"},
		{"\x01" + guid, "897912ab-cdef-4011-8899-010203040506", ""},
		{"\x01" + guid + "\x00", "897912ab-cdef-4011-8899-010203040506", "\x00"},
	} {
		if s, rest, err := NamedWithPlace(Header, []byte(c.header)); err != nil || s.String() != c.schema || string(rest) != c.rest {
			t.Errorf("%q: %v, %q, %v", c.header, s, rest, err)
		}
		if s, err := Named(Header, []byte(c.header)); c.rest == "" && (err != nil || s.String() != c.schema) {
			t.Errorf("%q without a place: %v, %v", c.header, s, err)
		} else if c.rest != "" && (err == nil || err.Error() != "header __value_schema_id is longer than the id or the GUID of a schema") {
			t.Errorf("%q without a place: %v, %v", c.header, s, err)
		}
	}
	const malformed, zero = "is neither a zero byte", "names schema 0, which no registry has"
	for bad, want := range map[string]string{
		"": malformed, "\x00\x00\x00\x01": malformed, "\x01" + guid[:15]: malformed, "\x02\x00\x00\x00\x01": malformed, "7": malformed,
		"\x00\x00\x00\x00\x00": zero, "\x00\x00\x00\x00\x00\x02": zero, "\x01" + strings.Repeat("\x00", 16): zero,
	} {
		if _, err := Named(KeyHeader, []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "header __key_schema_id "+want) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
