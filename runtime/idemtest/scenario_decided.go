package idemtest

import (
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
)

// decided does what a person does about an interrupted call, and delivers a copy: it was done, and
// this is its result, or it was not, and is called again.
func (w *walk) decided(r record, m idem.Message, wasDone bool) {
	b := w.b
	b.at(r, m.Partition, m.Offset)
	if !wasDone {
		w.calledAgain(r, func() { w.replay(m, nil) })
	} else {
		before := len(b.effects.of(b.calledFor(r)))
		result := r.answer.result
		if result == nil {
			result = []byte("null")
		}
		w.replay(m, result)
		if after := len(b.effects.of(b.calledFor(r))); after != before {
			b.t.Errorf("%s: a call was repeated although an operator had given its result", r.effect)
		}
	}
	w.owners.deliver([]idem.Message{w.place(r)})
}

// replay has the dead letter of a record replayed, by idemgen dead replay.
func (w *walk) replay(m idem.Message, result []byte) {
	b := w.b
	b.t.Helper()
	of, err := operate.List(b.t.Context(), b.db, "")
	i := slices.IndexFunc(of, func(s operate.Status) bool { return s.Topic == m.Topic && s.Partition == m.Partition && !s.Former })
	if err != nil || i < 0 {
		b.t.Fatalf("idemtest: no ledger of %s/%d (%v)", m.Topic, m.Partition, err)
	}
	letters, err := operate.LettersAt(b.t.Context(), b.db, &of[i], m.Offset)
	if err != nil || len(letters) == 0 {
		b.t.Fatalf("idemtest: offset %d is not a dead letter (%v)", m.Offset, err)
	}
	by := operate.By{Operator: "idemtest", Reason: "it is known what the call did"}
	letters, err = operate.Ask(b.t.Context(), b.db, letters[:1], "replay", result, by)
	for end := time.Now().Add(patience); err == nil && letters[0].Asked() != "" && time.Now().Before(end); {
		if err = b.attempt(b.t.Context(), w.writer(m), nil); err == nil {
			letters, err = operate.Refresh(b.t.Context(), b.db, letters)
		}
	}
	if err != nil || letters[0].State != "replayed" {
		b.t.Fatalf("the dead letter of an interrupted call is not replayed: %+v (%v)", letters, err)
	}
	settle(b, w.writer(m)) // the copy, if it waited behind the letter
	for at := range b.ownDead {
		if len(b.texts(letterSQL("state::text", "r"), at.topic, at.number, at.offset)) > 0 {
			delete(b.ownDead, at)
		}
	}
}
