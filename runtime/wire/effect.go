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
	// Fn is the call; what it returns is the event's result, encoded.
	Fn func(context.Context) ([]byte, error)
	// Read decodes a result for the event's rows; nil if the effect has none. A result that it
	// refuses is not recorded. One that was recorded by another version of the service may be
	// refused all the same.
	Read func(result []byte) error
	// Lock is held while the call runs, and until what it returned is recorded; its zero value is
	// none.
	Lock Lock

	// Set by [Batch.Effect].
	Message *Message
	Key     Key    // zero if the event is identified by its offset
	Content uint32 // definition of the event's content; 0 without a key
	Print   uint32 // its fingerprint
	Policy  *FailurePolicy
}

// Conflicts reports whether the effect was made, or begun, for an event with the same key and
// other content, whose definition and fingerprint are def and print.
func (e *Effect) Conflicts(def, print uint32) bool {
	return e.Content != 0 && Prior{Def: def, Print: print}.conflicts(e.Content, e.Print)
}

// EffectTerms is effect of one event, with every default filled in. It is read only.
type EffectTerms struct {
	Lease   time.Duration // how long another process waits after the holder was heard of; 0 is 30s
	Timeout time.Duration // of one call
	Keep    time.Duration // how long the result is remembered
	// Interrupts is if_interrupted: dead_letter: if nobody knows what a call did, the event waits
	// for a person. Otherwise the call is made again.
	Interrupts bool
}

// Term is how long a lease lasts unless it is extended.
func (t *EffectTerms) Term() time.Duration { return cmp.Or(t.Lease, 30*time.Second) }

// EffectResult is what a call that ended well returned.
type EffectResult struct {
	Key    Key
	Token  int64 // of the lease under which it was made
	Result []byte
	// External says that the lease is not in Postgres: the ledger's transaction has nothing to
	// complete there, and its claim of the key, or of the position, is what lets one result count.
	External bool
}

// Effects tells the results that are known, by the offset of the record.
func (b *Batch) Effects(results map[int64]EffectResult) { b.results = results }

// Effect reads the result of the record's effect. If it is not known yet, the record waits:
// Effect keeps the call for the runtime, and returns false. If it cannot be read, Effect returns
// an error. In both cases the caller adds no rows. Call it after [Event.Take], before the first
// row.
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

// GiveUp takes the last record back, which becomes a dead letter: its outcome was [Waiting], or it
// was refused after the claim of its key. Its keys are hidden ones then: if one is known after
// all, the record is a copy, and no letter.
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
	waiting []Effect       // are to be made
	done    []EffectResult // were made, and count with the batch
}

// Awaited are the effects of records that wait for theirs, and the results that the batch's rows
// rest on. They are valid until Reset.
func (b *Batch) Awaited() (waiting []Effect, done []EffectResult) {
	return b.effects.waiting, b.effects.done
}
