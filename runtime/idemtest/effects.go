package idemtest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	idem "github.com/idemgen/idemgen/runtime"
)

// effects stands for the other side that the effects of a log call: it counts the calls, and
// answers each with the result that the log says.
type effects struct {
	results map[string][]byte // by the record
	ofEvent map[string][]byte // of some record of the event

	leases holds // in a store outside of Postgres

	mu    sync.Mutex
	calls map[string]int // by the record
	again int            // calls that may have been made twice
}

type effectsKey struct{}

func newEffects(c *runner) *effects {
	f := &effects{results: map[string][]byte{}, ofEvent: map[string][]byte{}, calls: map[string]int{}}
	for _, r := range c.log {
		if r.effect != "" {
			m := r.message
			m.Value = pack(c.Encodings[m.Topic], m.Value)
			f.results[identity(m)], f.ofEvent[r.effect] = r.result, r.result
		}
	}
	return f
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
// for the record. It counts the call.
func EffectResult(ctx context.Context) []byte {
	f, ok := ctx.Value(effectsKey{}).(*effects)
	d, called := idem.DeliveryFrom(ctx)
	if !ok || !called {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id := identity(d.Message)
	f.calls[id]++
	if r, known := f.results[id]; known {
		return r
	}
	return f.ofEvent[d.Event]
}

// mayCallAgain says that the process died behind a call whose result it did not record.
func (f *effects) mayCallAgain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again++
}

// mayCallAllAgain says that results were lost which had been recorded.
func (f *effects) mayCallAllAgain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.calls {
		f.again += n
	}
}

// faults tells whose effects were called too often, or not at all.
func (f *effects) faults(b *trial) (wrong []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	more := 0
	for _, r := range b.log {
		if r.effect == "" {
			continue
		}
		m := r.message
		m.Value = pack(b.Encodings[m.Topic], m.Value)
		n := f.calls[identity(m)]
		more += max(0, n-1)
		if n == 0 && !b.isDead(r) || n > 1 && f.again == 0 {
			wrong = append(wrong, fmt.Sprintf("%s, offset %d: %d calls", r.effect, r.message.Offset, n))
		}
	}
	if more > f.again {
		wrong = append(wrong, fmt.Sprintf("%d calls too many; at most %d were cut off", more, f.again))
	}
	return wrong
}

// endLeases ends the leases of calls that were cut off, as their time does, and lets interrupted
// ones be called again, as a person does. They do not count: no service dies at every step.
func endLeases(b *trial) {
	b.effects.leases.end(b)
	Exec(b.t, b.db, `UPDATE idem_lease SET expires_at = clock_timestamp(), interrupts = false, attempts = 0 WHERE state = 'p'`)
}
