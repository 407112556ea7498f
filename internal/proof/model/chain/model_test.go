package chain

import (
	"strings"
	"sync"
	"testing"

	"github.com/idemgen/idemgen/internal/protocol"
)

func show(t *testing.T, v Violation) {
	t.Helper()
	var text strings.Builder
	for i := range v.Trace {
		text.WriteString("\n\t" + v.Trace[i].String())
	}
	t.Logf("%s, after%s", v.What, text.String())
}

// shortBounds explores the short bounds once for all tests and notes which steps of the
// table are taken.
var shortBounds = sync.OnceValues(func() (found []*Exploration, taken map[step]bool) {
	taken = map[step]bool{}
	r := &Rules{Next: func(s protocol.State, e protocol.Event) (protocol.State, protocol.Memory, bool) {
		taken[step{s, e}] = true
		return protocol.Next(s, e)
	}}
	for _, b := range Short() {
		found = append(found, Explore(r, b, false))
	}
	return found, taken
})

type step struct {
	s protocol.State
	e protocol.Event
}

// Every state within the short bounds holds all invariants; make model covers the full ones.
func TestProtocolHoldsWithinShortBounds(t *testing.T) {
	total := 0
	found, _ := shortBounds()
	for i, b := range Short() {
		e := found[i]
		t.Logf("%s: %d states, %d transitions", b.Name, e.States(), e.Transitions)
		total += e.States()
		for _, v := range e.Violations {
			t.Errorf("%s: a violation", b.Name)
			show(t, v)
		}
	}
	if total < 400_000 {
		t.Errorf("%d states only: do the bounds still say something?", total)
	}
}

// Each mistake is found, by the violation that it should lead to. -v prints the traces.
func TestMutantsAreCaught(t *testing.T) {
	for _, m := range Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			e := Explore(&m.Rules, m.Bound, true)
			if e.Count == 0 {
				t.Fatalf("not caught in %d states", e.States())
			}
			if v := e.Violations[0]; !strings.HasPrefix(v.What, m.Caught) {
				t.Errorf("caught by another violation than %q", m.Caught)
			}
			show(t, e.Violations[0])
		})
	}
}

// What a mutant is caught by holds without the mistake, so that it is the mistake that is caught.
func TestBoundsOfMutantsHoldWithoutThem(t *testing.T) {
	done := map[string]bool{}
	for _, m := range Mutants() {
		if key := string(m.Bound.Left[:]); !done[key] {
			done[key] = true
			if e := Explore(Protocol(), m.Bound, true); e.Count > 0 {
				t.Errorf("%v: %s", m.Bound.Left, e.Violations[0].What)
			}
		}
	}
}

// The packed form of a state is the state: nothing is cut off, so no two are taken for one.
func TestPackedStateIsTheState(t *testing.T) {
	b := Bound{Left: Faults{Assignments: 1, Losses: 1, Refusals: 1, Retentions: 1}, Poison: every[3:]}
	e := &Exploration{rules: Protocol(), number: map[packed]uint32{}}
	roots := b.roots()
	e.enter(&roots[0], 0)
	for at := 0; at < len(e.states) && at < 20_000; at++ {
		s := unpack(e.states[at])
		steps := e.rules.Steps(&s, nil)
		for i := range steps {
			if got := unpack(pack(&steps[i].After)); got != steps[i].After {
				t.Fatalf("after %v: packed %+v, got %+v", steps[i].String(), steps[i].After, got)
			}
		}
		e.follow(at, &s, steps)
	}
}

// Every step of the protocol's table is taken somewhere within the short bounds, but those
// that the model has no cause for.
func TestEveryStepOfTheTableIsTaken(t *testing.T) {
	_, taken := shortBounds()
	without := map[step]string{
		{protocol.Fencing, protocol.Own}:   "the row in a fence's place is not read",
		{protocol.Ready, protocol.Refused}: "tail, broker and spec never contradict each other",
		{protocol.Sent, protocol.Refused}:  "the same",
		{protocol.Ready, protocol.Foreign}: "another's row is met by an append",
	}
	for s := protocol.Off; s <= protocol.Halted; s++ {
		for e := protocol.Assigned; e <= protocol.Operator; e++ {
			if _, _, ok := protocol.Next(s, e); ok && e != protocol.Revoked && !taken[step{s, e}] && without[step{s, e}] == "" {
				t.Errorf("%v, %v is never taken", s, e)
			}
		}
	}
}
