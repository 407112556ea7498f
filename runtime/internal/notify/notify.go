// Package notify calls the hooks of a service. It sorts them by what they ask for, once, so
// that what no hook asks for costs the test of a length. A hook that panics is in the log once
// for each of its methods; nothing else comes of it. It must not import any package of this
// module but hook, idemtype and watchdog.
package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
)

// Hooks are the hooks of a consumer, in the order in which they were given. The zero value
// has none. Its methods may be called from several goroutines.
type Hooks struct {
	batchStart []*listener[hook.BatchStart]
	batchEnd   []*listener[hook.BatchEnd]
	events     []*listener[hook.Events]
	deadLetter []*listener[hook.DeadLetter]
	state      []*listener[hook.State]
	takeOver   []*listener[hook.TakeOver]
	retry      []*listener[hook.Retry]
	callStart  []*listener[hook.CallStart]
	call       []*listener[hook.Call]
	upkeep     []*listener[hook.Upkeep]
}

// New sorts hooks. An error is a hook that would not hear what its author meant it to.
func New(log *slog.Logger, given []hook.Hook) (*Hooks, error) {
	h := &Hooks{}
	for _, g := range given {
		if err := h.add(log, g); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// BatchStart tells that a batch begins, and returns the context for it.
func (h *Hooks) BatchStart(ctx context.Context, p idemtype.Partition, records int) context.Context {
	for _, l := range h.batchStart {
		ctx = carried(ctx, l, func(k hook.BatchStart) context.Context { return k.OnBatchStart(ctx, p, records) })
	}
	return ctx
}

// carried is the context that a hook makes of ctx; ctx if it makes none.
func carried[T any](ctx context.Context, l *listener[T], of func(T) context.Context) context.Context {
	l.call(func(k T) {
		if made := of(k); made != nil {
			ctx = made
		} else {
			l.report("a hook returned no context")
		}
	})
	return ctx
}

// BatchEnd tells that a batch is durable, or failed.
func (h *Hooks) BatchEnd(ctx context.Context, p idemtype.Partition, r idemtype.Result, err error) {
	for _, l := range h.batchEnd {
		l.call(func(k hook.BatchEnd) { k.OnBatchEnd(ctx, p, r, err) })
	}
}

// WantsEvents reports whether any hook asks for events: else nobody need collect them.
func (h *Hooks) WantsEvents() bool { return len(h.events) > 0 }

// Events tells what became of the events of a transaction.
func (h *Hooks) Events(p idemtype.Partition, events []hook.Event) {
	if len(events) == 0 {
		return
	}
	for _, l := range h.events {
		l.call(func(k hook.Events) { k.OnEvents(p, events) })
	}
}

// DeadLetter tells of a dead letter.
func (h *Hooks) DeadLetter(p idemtype.Partition, d hook.Letter) {
	for _, l := range h.deadLetter {
		l.call(func(k hook.DeadLetter) { k.OnDeadLetter(p, d) })
	}
}

// State tells that a partition went from one state to another.
func (h *Hooks) State(p idemtype.Partition, from, to string, why error) {
	for _, l := range h.state {
		l.call(func(k hook.State) { k.OnState(p, from, to, why) })
	}
}

// TakeOver tells that a partition was taken over.
func (h *Hooks) TakeOver(p idemtype.Partition, t hook.Taken) {
	for _, l := range h.takeOver {
		l.call(func(k hook.TakeOver) { k.OnTakeOver(p, t) })
	}
}

// Retry tells that a batch will be tried again.
func (h *Hooks) Retry(p idemtype.Partition, r hook.Pause) {
	for _, l := range h.retry {
		l.call(func(k hook.Retry) { k.OnRetry(p, r) })
	}
}

// CallStart tells that a call of an effect begins, and returns the context for it.
func (h *Hooks) CallStart(ctx context.Context, p idemtype.Partition) context.Context {
	for _, l := range h.callStart {
		ctx = carried(ctx, l, func(k hook.CallStart) context.Context { return k.OnCallStart(ctx, p) })
	}
	return ctx
}

// Call tells that a call of an effect has ended.
func (h *Hooks) Call(ctx context.Context, p idemtype.Partition, c hook.Ended) {
	for _, l := range h.call {
		l.call(func(k hook.Call) { k.OnCall(ctx, p, c) })
	}
}

// Upkeep tells that the upkeep ran.
func (h *Hooks) Upkeep(took time.Duration, err error) {
	for _, l := range h.upkeep {
		l.call(func(k hook.Upkeep) { k.OnUpkeep(took, err) })
	}
}
