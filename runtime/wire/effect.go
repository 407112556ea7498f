package wire

import (
	"cmp"
	"context"
	"time"
)

// Effect is one call of Go code outside of the transaction, under a lease, before the event's
// rows are written.
type Effect struct {
	Event string // Go name of the event
	Terms *EffectTerms
	// Fn makes the call and returns the event's result, encoded.
	Fn func(context.Context) ([]byte, error)
	// Read decodes a result for the event's rows; nil if the effect has no result. A result that
	// it rejects is not recorded. It may still reject a result that another version of the
	// service recorded.
	Read func(result []byte) error
	// Lock is held while the call runs, and until its result is recorded. The zero value means no
	// lock.
	Lock Lock

	// Set by [Batch.Effect].
	Message *Message
	Key     Key    // zero if the event is identified by its offset
	Content uint32 // definition of the event's content; 0 without a key
	Print   uint32 // its fingerprint
	Policy  *FailurePolicy
}

// Conflicts reports whether the effect was called, or its call begun, for an event with the same
// key and different content, whose definition and fingerprint are def and print.
func (e *Effect) Conflicts(def, print uint32) bool {
	return e.Content != 0 && Prior{Def: def, Print: print}.conflicts(e.Content, e.Print)
}

// EffectTerms holds the setting effect of one event, with all defaults filled in. It is read-only.
type EffectTerms struct {
	Lease   time.Duration // how long another process waits after the last sign of life of the holder; 0 means 30s
	Timeout time.Duration // of one call
	Keep    time.Duration // how long the result is remembered
	// Interrupts is if_interrupted: dead_letter: if the outcome of a call is unknown, the event
	// waits for an operator. Otherwise the call is repeated.
	Interrupts bool
}

// Term returns how long a lease lasts unless it is extended.
func (t *EffectTerms) Term() time.Duration { return cmp.Or(t.Lease, 30*time.Second) }

// EffectResult is the result of a successful call.
type EffectResult struct {
	Key    Key
	Token  int64 // of the lease under which it was made
	Result []byte
	// External says that the lease is not in Postgres. The ledger's transaction then completes no
	// lease; its claim of the key, or of the position, ensures that only one result counts.
	External bool
}

// Effects sets the results that are known, by the offset of the record.
func (b *Batch) Effects(results map[int64]EffectResult) { b.results = results }

// Effect decodes the result of the record's effect. If there is no result yet, the record waits:
// Effect keeps the call for the runtime, and returns false. If the result cannot be decoded,
// Effect returns an error. In both cases the caller adds no rows. Call Effect after [Event.Take],
// and before the first row.
func (b *Batch) Effect(m *Message, e Effect) (ok bool, err error) {
	if r, ok := b.results[m.Offset]; ok {
		if e.Read != nil {
			err = e.Read(r.Result)
		}
		b.effects.done = append(b.effects.done, r)
		return err == nil, err
	}
	e.Message, e.Key, e.Policy = m.kept(), b.record.key, b.record.policy
	e.Content, e.Print = b.record.content, b.record.print
	b.effects.waiting = append(b.effects.waiting, e)
	b.record.outcome = Waiting
	return false, nil
}

// taken is what a batch held before a record.
type taken struct{ claims, waiting, done int }

func takenBy(b *Batch) taken {
	return taken{len(b.keys.claims), len(b.effects.waiting), len(b.effects.done)}
}

// GiveUp removes the last record, which becomes a dead letter: its outcome was [Waiting], or it
// was rejected after the claim of its key. Its keys are then returned by [Batch.Hidden]: if one
// of them turns out to be known, the record is a duplicate, not a dead letter.
func GiveUp(b *Batch) {
	b.effects.waiting = b.effects.waiting[:b.record.before.waiting]
	b.effects.done = b.effects.done[:b.record.before.done]
	for _, c := range b.keys.claims[b.record.before.claims:] {
		delete(b.keys.mine, c.Key)
		if !c.Here {
			b.keys.hidden = append(b.keys.hidden, c.Key)
		}
	}
	b.keys.claims = b.keys.claims[:b.record.before.claims]
}

// effects are those of the batch's records.
type effects struct {
	waiting []Effect       // still to be called
	done    []EffectResult // called, and part of the batch
}

// Awaited returns the effects for which records wait, and the results that the batch's rows depend
// on. They are valid until Reset.
func (b *Batch) Awaited() (waiting []Effect, done []EffectResult) {
	return b.effects.waiting, b.effects.done
}
