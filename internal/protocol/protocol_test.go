package protocol

import "testing"

// TestMemoryLivesOnlyBetweenTailAndAppend states invariant I5: what a worker remembers
// outlives a step only from Ready, Sent, Doubt and Backoff to one of them.
func TestMemoryLivesOnlyBetweenTailAndAppend(t *testing.T) {
	remembers := map[State]bool{Ready: true, Sent: true, Doubt: true, Backoff: true}
	for s := Off; s <= Halted; s++ {
		for e := Assigned; e <= Bug; e++ {
			next, memory, ok := Next(s, e)
			switch {
			case !ok:
			case memory == Load:
				if s != Fencing || e != Acked || next != Ready {
					t.Errorf("%v, %v: memory is loaded", s, e)
				}
			case memory == Discard:
				if remembers[next] {
					t.Errorf("%v, %v: %v without a memory", s, e, next)
				}
			case !remembers[s] || !remembers[next]:
				t.Errorf("%v, %v: memory is kept from %v to %v", s, e, s, next)
			}
		}
	}
}

// TestEveryStateCanBeLeftAndRevoked: no state is a trap, and a bug halts in each.
func TestEveryStateCanBeLeftAndRevoked(t *testing.T) {
	for s := Off; s <= Halted; s++ {
		if next, memory, ok := Next(s, Revoked); !ok || next != Off || memory != Discard {
			t.Errorf("%v, revoked: %v, %v, %v", s, next, memory, ok)
		}
		if next, memory, ok := Next(s, Bug); !ok || next != Halted || memory != Discard {
			t.Errorf("%v, bug: %v, %v, %v", s, next, memory, ok)
		}
		if len(table[s]) == 0 {
			t.Errorf("nothing leads out of %v", s)
		}
	}
}

// TestReadyIsReachedThroughTheChain: only the chain's own word makes a worker ready, or an
// error after which nothing of the append can have happened.
func TestReadyIsReachedThroughTheChain(t *testing.T) {
	for s := Off; s <= Halted; s++ {
		for e := Assigned; e <= Bug; e++ {
			next, memory, ok := Next(s, e)
			if ok && next == Ready && memory == Keep && e != Conflict && e != Data && e != Rested && e != Awaits {
				t.Errorf("%v, %v: ready without an acknowledgement", s, e)
			}
		}
	}
}
