package decide

import (
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/wire"
)

// keeping is what a decision changes in what is kept of records.
type keeping struct {
	Letters []deadletter.Letter
	Moves   []deadletter.Move // of record keys whose records wait, in the order of the records
}

// waits reports whether a record waits behind a dead letter of its record key.
func (w *Decision) waits(m *wire.Message, f *Facts) bool {
	if f.Replay || f.Parked.None() && len(w.Moves) == 0 {
		return false // the key of a record is a hash, which costs
	}
	key := deadletter.OrderKey(m)
	return key != nil && !w.queue(*key, f).Empty()
}

// queue is the letters of a record key that others wait behind, once the records that were decided
// so far are passed.
func (w *Decision) queue(key wire.UUID, f *Facts) (q deadletter.Queue) {
	if f.Parked != nil {
		q, _ = f.Parked.Find(key)
	}
	for _, m := range w.Moves {
		if m.Key == key {
			q = q.Moved(m)
		}
	}
	return q
}
