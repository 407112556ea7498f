package idemtest

import "testing"

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
