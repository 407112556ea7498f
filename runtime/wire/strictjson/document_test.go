package strictjson

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// The record key is read as a document of its own, with its own paths.
func TestNextKey(t *testing.T) {
	for _, c := range []struct{ value, key, want string }{
		{`{"price":1}`, `{"price":2}`, ""},
		{`{"price":1}`, `{"price":"x"}`, "decode: E: record key.price must be an integer"},
		{`{"price":1}`, `{}`, "decode: E: record key.price is missing"},
		{`{"price":1}`, `[]`, "decode: E: record key must be an object"},
		{`{"price":1}`, `7 `, "decode: E: record key must be an object"},
		{`{"price":1}`, ``, "decode: E: record key is empty"},
		{`{"price":1}`, `{"price":2}x`, "decode: E: record key has data after its end"},
		{`{"price":1}x`, `{"price":2}`, "decode: E: the payload has data after its end (at byte 11)"},
		{`{"price":x}`, `{"price":"x"}`, "decode: E: price is not valid JSON (at byte 9)"},
	} {
		var s Scanner
		var value, key inner
		m := &wire.Message{Value: []byte(c.value), Key: []byte(c.key)}
		s.Borrow(m)
		value.decode(&s)
		s.NextKey(m)
		key.decode(&s)
		err := s.Finish("E")
		if got := text(err); got != c.want {
			t.Errorf("%s %s: got %s", c.value, c.key, got)
		}
		if c.want == "" && (value.Price != 1 || key.Price != 2) {
			t.Errorf("got %v, %v", value, key)
		}
	}
	var s Scanner
	s.Borrow(&wire.Message{})
	s.NextKey(&wire.Message{})
	if err := s.Finish("E"); text(err) != "decode: E: record key is missing" {
		t.Error(err)
	}
	s.Borrow(&wire.Message{Value: []byte("of no interest")})
	if err := s.Finish("E"); err != nil {
		t.Errorf("a value that nobody read: %v", err)
	}
	s.Same("order_id", true)
	s.Same("order_id", false)
	if err := s.Finish("E"); text(err) != "decode: E: order_id differs from the record key" {
		t.Error(err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The type is found in one pass that refuses what could be read in two ways.
func TestEventType(t *testing.T) {
	for _, c := range []struct {
		in   string
		path []string
		want string
	}{
		{`{"a":1,"type":"x\u0041","b":[{"type":7}]}`, []string{"type"}, "xA"},
		{`{"meta":{"x":[],"type":"t"},"type":1}`, []string{"meta", "type"}, "t"},
		{`"t"`, nil, "t"},
		{`{"a":1}`, []string{"type"}, "decode: type is missing (at byte 6)"},
		{`{"meta":{}}`, []string{"meta", "type"}, "decode: meta.type is missing (at byte 9)"},
		{`{"type":null}`, []string{"type"}, "decode: type must not be null (at byte 8)"},
		{`{"type":3}`, []string{"type"}, "decode: type must be a string: it is the event type (at byte 8)"},
		{`{"type":"a","type":"a"}`, []string{"type"}, "decode: type occurs twice (at byte 19)"},
		{`{"meta":{"type":"a"},"meta":{}}`, []string{"meta", "type"}, "decode: meta occurs twice (at byte 28)"},
		{`{"type":"a"`, []string{"type"}, "decode: the payload ends too early (at byte 11)"},
		{``, []string{"type"}, "decode: the payload is empty"},
	} {
		var s Scanner
		got, err := s.EventType(&wire.Message{Value: []byte(c.in)}, c.path...)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}
