package main

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/scripts/internal/audit"
)

// A decision must have been carried out unless a restore may have undone it, and only at the end.
func TestDecisionsThatMustHaveBeenCarriedOut(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	for _, test := range []struct {
		name  string
		begun int
		over  bool
		want  bool
	}{
		{"before the copy", 1, true, true},
		{"beside the copy", 9, true, false},
		{"between copy and restore", 12, true, false},
		{"beside the restore", 19, true, false},
		{"after the restore", 21, true, true},
		{"before the end of the soak", 21, false, false},
	} {
		s := &servers{restored: []restore{{copied: at(10), back: at(20)}}}
		o := &operator{part: &part{theatre: &theatre{servers: s}}, over: test.over}
		o.made = []decision{{Decision: audit.Decision{Must: true}, begun: at(test.begun), ended: at(test.begun + 2)}}
		if got := o.decisions()[0].Must; got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
