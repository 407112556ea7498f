// Package fault lets tests stop the runtime at a named step, as a crash would, and move the
// clock of a process. Without a test that does so it does nothing. It must not import any other
// package of this module.
package fault

import (
	"context"
	"sync"
)

// The steps of a take-over, then of one batch, in order.
const (
	BeforeFence  = "before fence"  // a partition is taken over: the tail was read
	BeforeLoad   = "before load"   // it is fenced, the keys of its chain are not loaded
	BeforeSend   = "before send"   // nothing was sent
	BeforeProbe  = "before probe"  // idem_keys is about to be read; batches without suspects skip it
	BeforeClaim  = "before claim"  // the known keys were read
	AfterAppend  = "after append"  // explicit transactions: ledger row and claims were sent
	AfterHandler = "after handler" // after each handler call
	BeforeCommit = "before commit" // explicit transactions: all but COMMIT was sent
	Reply        = "reply"         // committed; the reply is withheld
)

// The steps of an effect, which come before those of its batch.
const (
	BeforeLease = "before lease" // the lease is about to be asked for
	AfterLock   = "after lock"   // the event's lock was got, the lease not asked for
	AfterLease  = "after lease"  // the lease was got, the call not begun
	AfterCall   = "after call"   // the call returned; what came of it was not recorded
	AfterDone   = "after done"   // it was recorded
	AfterFound  = "after found"  // a result was found that was recorded before, or that a person gave
)

// StandingBy is the step of a partition in STANDBY: it read the chain, and nobody had
// acted.
const StandingBy = "standing by"

// The steps of the upkeep of one consumer's tables, in order.
const (
	Prepared = "prepared" // the next generation's table is attached
	Rotated  = "rotated"  // the open generation was sealed, the next one is open
	Dropped  = "dropped"  // an expired generation was forgotten
	Trimmed  = "trimmed"  // some rows of a chain were removed
	Closed   = "closed"   // open dead letters were closed
)

// Acknowledged is the step of an outbox's relay at which Kafka has a batch, and its rows are not
// deleted.
const Acknowledged = "acknowledged"

type hookKey struct{}

// With returns a context in which hook is asked at every step; its error stops the step.
func With(ctx context.Context, hook func(step string) error) context.Context {
	return context.WithValue(ctx, hookKey{}, hook)
}

type groupKey struct{}

// WithGroup returns a context whose goroutines that outlive a call are counted by a group.
func WithGroup(ctx context.Context, g *sync.WaitGroup) context.Context {
	return context.WithValue(ctx, groupKey{}, g)
}

// Begin counts such a goroutine until the returned function is called.
func Begin(ctx context.Context) (end func()) {
	g, ok := ctx.Value(groupKey{}).(*sync.WaitGroup)
	if !ok {
		return func() {}
	}
	g.Add(1)
	return g.Done
}

// At asks the hook of ctx, if there is one.
func At(ctx context.Context, step string) error {
	if hook, ok := ctx.Value(hookKey{}).(func(string) error); ok {
		return hook(step)
	}
	return nil
}
