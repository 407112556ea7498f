package engine

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Of the letters of one offset one request is done at a time: the calls of their effects are known
// by the offset. A request whose time has not come is not read, and holds up those of its lines.
func TestLettersOfOneOffsetAreOneLine(t *testing.T) {
	first, second, other := &deadletter.Open{}, &deadletter.Open{}, &deadletter.Open{}
	first.Offset, first.Seq, second.Offset, second.Seq, other.Offset, other.Seq = 7, 1, 7, 2, 8, 1
	now := time.Now()
	e := &errands{tried: map[deadletter.Place]*errand{
		placeOf(first): {after: now.Add(time.Hour), lines: linesOf(first)},
		placeOf(other): {after: now.Add(-time.Second), lines: linesOf(other)},
	}}
	held, lines := e.held(now)
	if len(held.Letters) != 1 || held.Letters[0] != placeOf(first) {
		t.Errorf("%v are not read, want the first", held.Letters)
	}
	if !heldUp(second, lines) {
		t.Error("the second letter of the offset may be done while the first waits")
	}
	if heldUp(other, lines) {
		t.Error("the letter of another offset is held up")
	}
}

// A request that waits for its time holds up those of its offset and of its record key. One that
// is done, or whose time has come, holds up none.
func TestARequestThatWaitsHoldsUpItsLines(t *testing.T) {
	key := wire.UUID{1}
	waits, same, other := &deadletter.Open{}, &deadletter.Open{}, &deadletter.Open{}
	waits.Offset, waits.OrderKey, same.Offset, same.OrderKey, other.Offset = 7, &key, 9, &key, 8
	for name, c := range map[string]struct {
		tried *errand
		held  bool
	}{
		"not tried":         {nil, false},
		"its time has come": {&errand{after: time.Now().Add(-time.Second), lines: linesOf(waits)}, false},
		"it waits":          {&errand{after: time.Now().Add(time.Hour), lines: linesOf(waits)}, true},
	} {
		e := &errands{tried: map[deadletter.Place]*errand{}}
		if c.tried != nil {
			e.tried[placeOf(waits)] = c.tried
		}
		held := map[string]bool{}
		e.holdUp(waits, held)
		if heldUp(waits, held) != c.held || heldUp(same, held) != c.held || heldUp(other, held) {
			t.Errorf("%s: held up are %v", name, held)
		}
	}
}
