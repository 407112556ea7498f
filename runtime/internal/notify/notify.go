// Package notify calls the hooks of a service. It sorts them once by the methods that they have,
// so a method that no hook has costs only a check of a length. A panic of a hook is logged once
// for each of its methods, and has no other consequence. It must not import any package of this
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

// New sorts hooks. It returns an error for a hook with a method that would never be called.
func New(log *slog.Logger, given []hook.Hook) (*Hooks, error) {
	h := &Hooks{}
	for _, g := range given {
		if err := h.add(log, g); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// BatchStart reports that a batch begins, and returns the context for it.
func (h *Hooks) BatchStart(ctx context.Context, p idemtype.Partition, records int) context.Context {
	for _, l := range h.batchStart {
		ctx = carried(ctx, l, func(k hook.BatchStart) context.Context { return k.OnBatchStart(ctx, p, records) })
	}
	return ctx
}

// carried returns the context that a hook derives from ctx, or ctx if it returns none.
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

// BatchEnd reports that a batch is durable, or has failed.
func (h *Hooks) BatchEnd(ctx context.Context, p idemtype.Partition, r idemtype.Result, err error) {
	for _, l := range h.batchEnd {
		l.call(func(k hook.BatchEnd) { k.OnBatchEnd(ctx, p, r, err) })
	}
}

// WantsEvents reports whether any hook needs events. Otherwise they need not be collected.
func (h *Hooks) WantsEvents() bool { return len(h.events) > 0 }

// Events reports the outcomes of the events of a transaction.
func (h *Hooks) Events(p idemtype.Partition, events []hook.Event) {
	if len(events) == 0 {
		return
	}
	for _, l := range h.events {
		l.call(func(k hook.Events) { k.OnEvents(p, events) })
	}
}

// DeadLetter reports a dead letter.
func (h *Hooks) DeadLetter(p idemtype.Partition, d hook.Letter) {
	for _, l := range h.deadLetter {
		l.call(func(k hook.DeadLetter) { k.OnDeadLetter(p, d) })
	}
}

// State reports a change of the state of a partition.
func (h *Hooks) State(p idemtype.Partition, from, to string, why error) {
	for _, l := range h.state {
		l.call(func(k hook.State) { k.OnState(p, from, to, why) })
	}
}

// TakeOver reports that a partition was taken over.
func (h *Hooks) TakeOver(p idemtype.Partition, t hook.Taken) {
	for _, l := range h.takeOver {
		l.call(func(k hook.TakeOver) { k.OnTakeOver(p, t) })
	}
}

// Retry reports that a batch will be retried.
func (h *Hooks) Retry(p idemtype.Partition, r hook.Pause) {
	for _, l := range h.retry {
		l.call(func(k hook.Retry) { k.OnRetry(p, r) })
	}
}

// CallStart reports that a call of an effect begins, and returns the context for it.
func (h *Hooks) CallStart(ctx context.Context, p idemtype.Partition) context.Context {
	for _, l := range h.callStart {
		ctx = carried(ctx, l, func(k hook.CallStart) context.Context { return k.OnCallStart(ctx, p) })
	}
	return ctx
}

// Call reports that a call of an effect has ended.
func (h *Hooks) Call(ctx context.Context, p idemtype.Partition, c hook.Ended) {
	for _, l := range h.call {
		l.call(func(k hook.Call) { k.OnCall(ctx, p, c) })
	}
}

// Upkeep reports that the upkeep has run.
func (h *Hooks) Upkeep(took time.Duration, err error) {
	for _, l := range h.upkeep {
		l.call(func(k hook.Upkeep) { k.OnUpkeep(took, err) })
	}
}
