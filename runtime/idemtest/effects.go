package idemtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/idemgen/idemgen/internal/proof/seedlog"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// effects stands for the other side that the effects of a log call: it counts the calls, and
// answers each with what the log says.
type effects struct {
	answers map[string]answer // by the record
	ofEvent map[string]answer // of some record of the event

	leases holds // in a store outside of Postgres

	mu     sync.Mutex
	calls  map[string][]call // by the record
	failed map[string]int    // calls of the service's own effects that did not end well, by the record
	again  int               // calls that may have been made twice
	// during, if it is not nil, runs while a call does, which is the nth of its record.
	during func(id string, nth int)
}

// call is what a call was made under.
type call struct {
	key   idem.Key
	token int64
	lock  wire.Lock
}

// answer is what a call returns.
type answer struct {
	result      []byte // JSON
	failure     string // "": none
	interrupted bool   // nobody knows what the call did
	own         bool   // nobody says what: the service's own effect is called
}

func (a answer) err() error {
	switch err := errors.New(a.failure); {
	case a.failure == "":
		return nil
	case a.interrupted:
		return idem.Interrupted(err)
	default:
		return idem.Permanent(err)
	}
}

// final reports whether a copy is not tried anew: it ended well, or nobody knows what it did.
func (a answer) final() bool { return a.failure == "" || a.interrupted }

type effectsKey struct{}

func newEffects(c *runner) *effects {
	f := &effects{answers: map[string]answer{}, ofEvent: map[string]answer{}, calls: map[string][]call{}, failed: map[string]int{}}
	for _, r := range c.log {
		id := c.calledFor(r)
		if before, known := f.answers[id]; r.effect == "" || known && !before.own && r.answer.own { // a copy need not say it again
			continue
		}
		f.answers[id] = r.answer
		if r.answer.failure == "" {
			f.ofEvent[r.effect] = r.answer
		}
	}
	return f
}

// calledFor is the identity of a record of the log, as Go code gets it: with what is in the value
// that it is packed in, which may be more than in the log, or in another order.
func (c *runner) calledFor(r record) string {
	m := r.message
	if t := c.packed[m.Topic]; t != nil && m.Value != nil {
		if value, err := seedlog.Unpacked(t, c.pack(m)); err == nil {
			m.Value = value
		}
	}
	return identity(m)
}

// identity is what copies of a record share.
func identity(m idem.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q", m.Topic, m.Key, m.Value)
	for _, h := range m.Headers {
		fmt.Fprintf(&b, " %q %q", h.Name, h.Value)
	}
	return b.String()
}

// in is a context whose effects call this other side.
func (f *effects) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, effectsKey{}, f)
}

// EffectResult is what the effects of generated tests return, as JSON: the result that the log has
// for the record, or the error that it has instead. It counts the call.
func EffectResult(ctx context.Context) ([]byte, error) {
	f, ok := ctx.Value(effectsKey{}).(*effects)
	d, called := idem.DeliveryFrom(ctx)
	if !ok || !called {
		return nil, nil
	}
	id := identity(d.Message)
	f.called(id, d)
	a := f.answer(id, d.Event)
	return a.result, a.err()
}

// answer is what a call returns. A record that the log does not have is an odd copy of one.
func (f *effects) answer(id, event string) answer {
	if a, known := f.answers[id]; known {
		return a
	}
	return f.ofEvent[event]
}

// CallsEffect reports whether a generated test calls the service's own effect, because the record
// is of a case that says nothing of its call. It counts the call. Pass what the effect
// returned to [EffectCalled].
func CallsEffect(ctx context.Context) bool {
	f, ok := ctx.Value(effectsKey{}).(*effects)
	d, called := idem.DeliveryFrom(ctx)
	if !ok || !called {
		return false
	}
	id := identity(d.Message)
	if !f.answer(id, d.Event).own {
		return false
	}
	f.fails(id, 1) // until it has ended well
	f.called(id, d)
	return true
}

// EffectCalled returns what the service's own effect returned.
func EffectCalled(ctx context.Context, err error) error {
	f, ok := ctx.Value(effectsKey{}).(*effects)
	if d, called := idem.DeliveryFrom(ctx); ok && called && err == nil {
		f.fails(identity(d.Message), -1)
	}
	return err
}

func (f *effects) fails(id string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed[id] += n
}

// called counts a call, and runs what is to run while it does.
func (f *effects) called(id string, d idem.Delivery) {
	f.mu.Lock()
	f.calls[id] = append(f.calls[id], call{d.Key, d.Token, d.Lock})
	nth, during := len(f.calls[id]), f.during
	f.mu.Unlock()
	if during != nil {
		during(id, nth)
	}
}

// set says what runs while calls do.
func (f *effects) set(during func(id string, nth int)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.during = during
}

// of are the calls of a record.
func (f *effects) of(id string) []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls[id])
}

// mayCallAgain says that the process died after a call whose result it did not record.
func (f *effects) mayCallAgain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again++
}

// mayCallAllAgain says that results were lost which had been recorded.
func (f *effects) mayCallAllAgain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, made := range f.calls {
		f.again += len(made)
	}
}

// faults tells whose effects were called too often, or not at all. A copy of an event whose call
// failed for good is tried anew: of such calls there may be any number.
func (f *effects) faults(b *trial) (wrong []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	more, made := 0, map[string]int{}
	for id, sent := range ofEffects(b.runner) {
		r, n, may := sent[0], len(f.calls[id]), len(sent)
		if r.keyed && r.answer.final() {
			may = 1
		}
		made[r.effect] += min(n, may)
		n -= f.failed[id] // of the service's own, which is tried anew
		if !r.answer.final() {
			may = n
		}
		more += max(0, n-may)
		if n == 0 && !b.ofCase && !b.isDead(r) || n > may && f.again == 0 {
			wrong = append(wrong, fmt.Sprintf("%s, offset %d: %d calls", r.effect, r.message.Offset, n))
		}
	}
	if more > f.again {
		wrong = append(wrong, fmt.Sprintf("%d calls too many; at most %d were cut off", more, f.again))
	}
	for _, event := range slices.Sorted(maps.Keys(b.want.calls)) {
		if want := b.want.calls[event]; made[event] != want {
			wrong = append(wrong, fmt.Sprintf("calls of %s: want %d, got %d", event, want, made[event]))
		}
	}
	return wrong
}

// ofEffects are the records of the log that have an effect, by what they are sent as.
func ofEffects(c *runner) map[string][]record {
	out := map[string][]record{}
	for _, r := range c.log {
		if r.effect != "" {
			id := c.calledFor(r)
			out[id] = append(out[id], r)
		}
	}
	return out
}

// endLeases ends the leases of calls that were cut off, as their time does, and lets interrupted
// ones be called again, as a person does. They do not count: no service dies at every step.
func endLeases(b *trial) {
	if !b.has("idem_lease") {
		return
	}
	b.effects.leases.change(b.database, lease.Processing, map[string]string{"expires": "0", "interrupts": "0", "attempts": "0"})
	Exec(b.t, b.db, `UPDATE idem_lease SET expires_at = clock_timestamp(), interrupts = false, attempts = 0 WHERE state = 'p'`)
}
