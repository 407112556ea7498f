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
		if got := wire.UnknownStop([]byte(eventType)).Error(); got != want+", which says stop for that" {
			t.Errorf("UnknownStop(%q): %s", eventType, got)
		}
	}
}
