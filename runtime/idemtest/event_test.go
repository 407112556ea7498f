package idemtest

import (
	"testing"

	idem "github.com/idemgen/idemgen/runtime"
)

// A member stands for all that is in it, and for nothing that only begins alike.
func TestAmong(t *testing.T) {
	members := []string{"note", "meta.at"}
	for path, want := range map[string]bool{
		"note": true, "note.text": true, "note[0].text": true, "notes": false,
		"meta.at": true, "meta": false, "meta.attr": false, "other": false,
	} {
		if among(members, path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	if !among([]string{""}, "anything") {
		t.Error("the whole payload does not hold its members")
	}
}

// The event that a header is taken from stays whole: logs share their messages.
func TestWithout(t *testing.T) {
	e := Event{Keyed: true, Here: true, Message: idem.Message{Headers: []idem.Header{{Name: "a"}, {Name: "b"}, {Name: "a"}}}}
	if got := e.Without("a"); len(got.Message.Headers) != 1 || got.Message.Headers[0].Name != "b" || !got.Keyed {
		t.Errorf("%+v", got)
	}
	if got := e.ByOffset(); got.Keyed || got.Here || len(e.Message.Headers) != 3 || e.Message.Headers[0].Name != "a" {
		t.Errorf("%+v, of %+v", got, e)
	}
}
