package decide

import (
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/wire"
)

// keeping is what a decision changes in what is kept of records.
type keeping struct {
	Letters []deadletter.Letter
	Moves   []deadletter.Move    // of record keys whose records wait, in the order of the records
	Erased  []deadletter.Erasure // record keys of which nothing is kept, in the order of the events that say so
}

// erases reports whether a record of a parked record key is of an event with erase_traces. Such a
// one waits for nobody: nothing of what it would wait for can be applied once it is.
func (d *Decider) erases(m *wire.Message) bool {
	return len(d.topic.Erases) > 0 && len(m.Value) <= d.most && wire.Probe(d.batch, m)
}

// waits reports whether a record waits behind a dead letter of its record key, and at which offset
// that one is.
func (w *Decision) waits(m *wire.Message, f *Facts) (at int64, waits bool) {
	key := deadletter.OrderKey(m)
	if key == nil || f.Again {
		return 0, false
	}
	q := w.queue(*key, f)
	return q.Offset, !q.Empty()
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

// erase erases what is kept of a record's key: letters before it hold nothing up any more.
func (w *Decision) erase(m *wire.Message, f *Facts) {
	e := deadletter.NewErasure(m)
	w.Erased = append(w.Erased, e)
	if q := w.queue(e.Key, f); !q.Empty() {
		w.Moves = append(w.Moves, deadletter.Move{Key: e.Key, Dead: -q.Dead, Waiting: -q.Waiting, Offset: e.Offset})
	}
}
