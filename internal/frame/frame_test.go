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
	} {
		if _, _, err := Split([]byte(bad)); err != want {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A header names a schema by its number or by its GUID, and the place of a message after it.
func TestAHeaderNamesASchema(t *testing.T) {
	guid := "\x89\x79\x12\xab\xcd\xef\x40\x11\x88\x99\x01\x02\x03\x04\x05\x06"
	for _, c := range []struct{ header, schema, rest string }{
		{"\x00\x00\x01\x86\xa1", "100001", ""},
		{"\x00\x00\x00\x00\x07\x02\x02", "7", "\x02\x02"},
		{"\x01" + guid, "897912ab-cdef-4011-8899-010203040506", ""},
		{"\x01" + guid + "\x00", "897912ab-cdef-4011-8899-010203040506", "\x00"},
	} {
		if s, rest, err := Named(Header, []byte(c.header)); err != nil || s.String() != c.schema || string(rest) != c.rest {
			t.Errorf("%q: %v, %q, %v", c.header, s, rest, err)
		}
	}
	for _, bad := range []string{"", "\x00\x00\x00\x01", "\x01" + guid[:15], "\x02\x00\x00\x00\x01", "7"} {
		if _, _, err := Named(Header, []byte(bad)); err == nil || !strings.Contains(err.Error(), Header) || strings.Contains(err.Error(), "7") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
