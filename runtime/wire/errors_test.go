package wire_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// A dead letter names the type that nobody knows: people cannot act without it. Whatever the
// producer put there, the text is short and printable.
func TestUnknownTypesAreNamedShortAndPrintable(t *testing.T) {
	for eventType, want := range map[string]string{
		"order.viewed":                      `"order.viewed"`,
		"":                                  `""`,
		"a\nb\x00\x1b[2J\"\u202e\xff":       `"a\nb\x00\x1b[2J\"\u202e\xff"`,
		strings.Repeat("x", 64):             `"` + strings.Repeat("x", 64) + `"`,
		strings.Repeat("x", 65):             `"` + strings.Repeat("x", 64) + `"...`,
		strings.Repeat("x", 63) + "\u00e9y": `"` + strings.Repeat("x", 63) + `"...`,
	} {
		want = "unknown_type: the event type " + want + " is not in the spec"
		if got := wire.Unknown(eventType).Error(); got != want {
			t.Errorf("Unknown(%q): %s, want %s", eventType, got, want)
		}
	}
}

// A version that is there twice is none.
func TestOptionalHeaderIsThereOnceAtMost(t *testing.T) {
	once, null := wire.Header{Name: "v", Value: []byte("1")}, wire.Header{Name: "v"}
	for _, c := range []struct {
		headers []wire.Header
		want    string
	}{
		{nil, ""},
		{[]wire.Header{{Name: "w", Value: []byte("1")}}, ""},
		{[]wire.Header{null}, ""},
		{[]wire.Header{once}, "1"},
		{[]wire.Header{once, once}, "decode: header v occurs 2 times"},
		{[]wire.Header{null, once}, "decode: header v occurs 2 times"},
	} {
		m := wire.Message{Headers: c.headers}
		raw, err := m.OptHeader("v")
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.headers, got, c.want)
		}
	}
}
