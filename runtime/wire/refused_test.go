package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestTextsOfRefusals(t *testing.T) {
	for want, err := range map[string]error{
		"decode: no":               &DecodeError{Reason: "no"},
		"fit: Paid: a[1] no":       &DecodeError{Class: ReasonFit, Event: "Paid", Path: "a[1]", Reason: "no"},
		"decode: a no (at byte 1)": &DecodeError{Path: "a", Reason: "no", At: 1},
		"conflict: Paid: the key was used before by an event with different content":           &ConflictError{Event: "Paid"},
		"tombstone: the record has no value, and the topic has no tombstone event":             NoTombstone(),
		"unknown_type: the record has a value, and the topic has only a tombstone event":       OnlyTombstones(),
		`unknown_type: the event type "pa\u00ef\n" is not in the spec`:                         Unknown("paï\n"),
		`unknown_type: the event type "` + strings.Repeat("x", 64) + `" is not in the spec`:    Unknown(strings.Repeat("x", 64)),
		`unknown_type: the event type "` + strings.Repeat("x", 64) + `"... is not in the spec`: Unknown([]byte(strings.Repeat("x", 65))),
		`unknown_type: the event type "` + strings.Repeat("x", 63) + `"... is not in the spec`: Unknown(strings.Repeat("x", 63) + "ï"),
	} {
		if err.Error() != want {
			t.Errorf("%s\nwant\n%s", err, want)
		}
	}
}

// A missing header is told with those that the record has, which a producer may have named badly.
func TestMissingHeaderNamesTheOthers(t *testing.T) {
	var many []Header
	for i := range mostHeaders + 1 {
		many = append(many, Header{Name: fmt.Sprint("h", i)})
	}
	for want, headers := range map[string][]Header{
		"is missing; the record has no headers":                                                      nil,
		`is missing; the record has "Key", "k\u00e9"`:                                                {{Name: "Key"}, {Name: "ké"}},
		`is missing; the record has "h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9"`:      many[:mostHeaders],
		`is missing; the record has "h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9", ...`: many,
		"occurs 2 times":   {{Name: "key"}, {Name: "key", Value: []byte("b")}},
		"must not be null": {{Name: "key"}},
	} {
		m := &Message{Headers: headers}
		_, err := m.Header("key")
		d, ok := errors.AsType[*DecodeError](err)
		if !ok || d.Path != "header key" || d.Reason != want {
			t.Errorf("%v: %v, want %s", headers, err, want)
		}
		v, err := m.OptHeader("key")
		if twice := strings.HasPrefix(want, "occurs"); v != nil || (err != nil) != twice {
			t.Errorf("%v, optional: %q, %v", headers, v, err)
		}
	}
}
