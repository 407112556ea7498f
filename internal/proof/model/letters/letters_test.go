package letters

import (
	"strings"
	"testing"
)

// Every state within the short bounds holds what docs/protocol.md promises; make model has more.
func TestLettersHoldWithinShortBounds(t *testing.T) {
	for _, b := range Bounds(true) {
		e := Explore(&b.Rules, b.Left)
		t.Logf("%s: %d states", b.Name, e.States)
		if e.Violation != "" {
			t.Errorf("%s: %s, after\n\t%s", b.Name, e.Violation, strings.Join(e.Trace, "\n\t"))
		}
		if e.States < 1000 {
			t.Errorf("%s: %d states only: does the bound still say something?", b.Name, e.States)
		}
	}
}

// Each mistake is found, by the violation that it should lead to, and by nothing without it.
func TestMutantsAreCaught(t *testing.T) {
	for _, m := range Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			e := Explore(&m.Rules, m.Left)
			t.Logf("%s, after\n\t%s", e.Violation, strings.Join(e.Trace, "\n\t"))
			if e.Violation != m.Caught || m.Caught == "" {
				t.Errorf("caught by %q, want %q", e.Violation, m.Caught)
			}
			sound := m.Rules
			sound.Bug = NoBug
			if e := Explore(&sound, m.Left); e.Violation != "" {
				t.Errorf("without the mistake: %s, after\n\t%s", e.Violation, strings.Join(e.Trace, "\n\t"))
			}
		})
	}
}
