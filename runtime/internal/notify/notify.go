// Package notify calls the hooks of a service. It sorts them by what they ask for, once, so
// that what no hook asks for costs the test of a length. It must not import any package of
// this module but hook and idemtype.
package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
)

// Hooks are the hooks of a consumer, in the order in which they were given. The zero value
// has none. Its methods may be called from several goroutines.
type Hooks struct {
	batchStart []hook.BatchStart
	batchEnd   []hook.BatchEnd
	events     []hook.Events
	deadLetter []hook.DeadLetter
	state      []hook.State
	takeOver   []hook.TakeOver
	retry      []hook.Retry
	upkeep     []hook.Upkeep
}

// New sorts hooks. A value that has no method of package hook is an error: its methods are
// misspelled, or it was given by mistake.
func New(given []hook.Hook) (*Hooks, error) {
	h := &Hooks{}
	for _, g := range given {
		asks := keep(&h.batchStart, g)
		asks = keep(&h.batchEnd, g) || asks
		asks = keep(&h.events, g) || asks
		asks = keep(&h.deadLetter, g) || asks
		asks = keep(&h.state, g) || asks
		asks = keep(&h.takeOver, g) || asks
		asks = keep(&h.retry, g) || asks
		asks = keep(&h.upkeep, g) || asks
		if !asks {
			return nil, fmt.Errorf("a hook of type %T has none of the methods of package hook (see its interfaces): is it given by value although its methods are the pointer's?", g)
		}
	}
	return h, nil
}

// keep adds a hook to those of a kind, if it is of that kind.
func keep[T any](kind *[]T, h hook.Hook) bool {
	k, ok := h.(T)
	if ok {
		*kind = append(*kind, k)
	}
	return ok
}

// BatchStart tells that a batch begins, and returns the context for it.
func (h *Hooks) BatchStart(ctx context.Context, p idemtype.Partition, records int) context.Context {
	for _, k := range h.batchStart {
		ctx = k.OnBatchStart(ctx, p, records)
	}
	return ctx
}

// BatchEnd tells that a batch is durable, or failed.
func (h *Hooks) BatchEnd(ctx context.Context, p idemtype.Partition, r idemtype.Result, err error) {
	for _, k := range h.batchEnd {
		k.OnBatchEnd(ctx, p, r, err)
	}
}

// WantsEvents reports whether any hook asks for events: else nobody need collect them.
func (h *Hooks) WantsEvents() bool { return len(h.events) > 0 }

// Events tells what became of the events of a transaction.
func (h *Hooks) Events(p idemtype.Partition, events []hook.Event) {
	if len(events) == 0 {
		return
	}
	for _, k := range h.events {
		k.OnEvents(p, events)
	}
}

// DeadLetter tells of a dead letter.
func (h *Hooks) DeadLetter(p idemtype.Partition, d hook.Letter) {
	for _, k := range h.deadLetter {
		k.OnDeadLetter(p, d)
	}
}

// State tells that a partition went from one state to another.
func (h *Hooks) State(p idemtype.Partition, from, to string, why error) {
	for _, k := range h.state {
		k.OnState(p, from, to, why)
	}
}

// TakeOver tells that a partition was taken over.
func (h *Hooks) TakeOver(p idemtype.Partition, t hook.Taken) {
	for _, k := range h.takeOver {
		k.OnTakeOver(p, t)
	}
}

// Retry tells that a batch will be tried again.
func (h *Hooks) Retry(p idemtype.Partition, r hook.Pause) {
	for _, k := range h.retry {
		k.OnRetry(p, r)
	}
}

// Upkeep tells that the upkeep ran.
func (h *Hooks) Upkeep(took time.Duration, err error) {
	for _, k := range h.upkeep {
		k.OnUpkeep(took, err)
	}
}
