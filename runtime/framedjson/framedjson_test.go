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
	for _, bad := range []string{"", `{"orderId":"o-1"}`, "\x00\x00\x00\x01", "\x01\x00\x00\x00\x01{}"} {
		const want = "decode: cannot be read: it does not begin with a zero byte and the number of a schema"
		if _, err := (Encoding{}).Open(&wire.Message{Value: []byte(bad)}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
