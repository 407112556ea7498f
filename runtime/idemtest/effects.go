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

// effects is a fake provider that the effects of a log call. It counts the calls, and answers each
// one as the log says.
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

// call is the key, token and lock of a call.
type call struct {
	key   idem.Key
	token int64
	lock  wire.Lock
}

// answer is the result of a call.
type answer struct {
	result      []byte // JSON
	failure     string // "": none
	interrupted bool   // the outcome of the call is unknown
	own         bool   // the case does not say: the service's own effect is called
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

// final reports whether duplicates are not called again: the call succeeded, or its outcome is
// unknown.
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

// calledFor returns the identity of a record of the log as Go code receives it: with its unpacked
// value, which may have more fields than in the log, or another order.
func (c *runner) calledFor(r record) string {
	m := r.message
	if t := c.packed[m.Topic]; t != nil {
		sent := c.pack(m)
		if key, value, err := seedlog.Unpacked(t, sent.Key, sent.Value); err == nil {
			m.Key, m.Value, m.Headers = key, value, sent.Headers
		}
	}
	return identity(m)
}

// identity returns a text that is equal for all copies of a record.
func identity(m idem.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q", m.Topic, m.Key, m.Value)
	for _, h := range m.Headers {
		fmt.Fprintf(&b, " %q %q", h.Name, h.Value)
	}
	return b.String()
}

// in returns a context in which effects call this provider.
func (f *effects) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, effectsKey{}, f)
}

// EffectResult returns the result of an effect in generated tests, as JSON, or its error, as the
// log says for the record. It counts the call.
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

// answer is the result of a call. A record that the log does not have is an odd copy of one.
func (f *effects) answer(id, event string) answer {
	if a, known := f.answers[id]; known {
		return a
	}
	return f.ofEvent[event]
}

// CallsEffect reports whether a generated test must call the service's own effect, because the
// case does not state the result of the call. If so, it counts the call. Pass the error of the
// effect to [EffectCalled].
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

// EffectCalled records how a call of the service's own effect ended, and returns err.
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

// called counts a call and runs during.
func (f *effects) called(id string, d idem.Delivery) {
	f.mu.Lock()
	f.calls[id] = append(f.calls[id], call{d.Key, d.Token, d.Lock})
	nth, during := len(f.calls[id]), f.during
	f.mu.Unlock()
	if during != nil {
		during(id, nth)
	}
}

// set sets during.
func (f *effects) set(during func(id string, nth int)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.during = during
}

// of returns the calls of a record.
func (f *effects) of(id string) []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls[id])
}

// mayCallAgain records that the process died after a call whose result it had not recorded.
func (f *effects) mayCallAgain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again++
}

// mayCallAllAgain records that all recorded results were lost.
func (f *effects) mayCallAllAgain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, made := range f.calls {
		f.again += len(made)
	}
}

// faults lists the records whose effects were called too often, or not at all. If the call of an
// event failed permanently, each duplicate calls it again, any number of times.
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

// ofEffects returns the records of the log that have an effect, by their identity.
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

// endLeases lets the leases of calls that were cut off expire, and permits interrupted calls
// again, as an operator might. These calls are not counted: no service dies at every step.
func endLeases(b *trial) {
	if !b.has("idem_lease") {
		return
	}
	b.effects.leases.change(b.database, lease.Processing, map[string]string{"expires": "0", "interrupts": "0", "attempts": "0"})
	Exec(b.t, b.db, `UPDATE idem_lease SET expires_at = clock_timestamp(), interrupts = false, attempts = 0 WHERE state = 'p'`)
}
