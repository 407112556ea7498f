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
	BeforeLease = "before lease" // the lease is about to be requested
	AfterLock   = "after lock"   // the event's lock was acquired, the lease not requested
	AfterLease  = "after lease"  // the lease was acquired, the call not begun
	AfterCall   = "after call"   // the call returned; its outcome was not recorded
	AfterDone   = "after done"   // the outcome was recorded
	AfterFound  = "after found"  // a result was found that was recorded before, or stated by an operator
)

// StandingBy is the step of a partition in STANDBY: it has read the chain, which had not changed.
const StandingBy = "standing by"

// The steps of the upkeep of one consumer's tables, in order.
const (
	Prepared = "prepared" // the next generation's table is attached
	Rotated  = "rotated"  // the open generation was sealed, the next one is open
	Dropped  = "dropped"  // an expired generation was dropped
	Trimmed  = "trimmed"  // some rows of a chain were removed
	Closed   = "closed"   // open dead letters were closed
)

type hookKey struct{}

// With returns a context in which hook is called at every step; its error stops the step.
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

// At calls the hook of ctx, if there is one.
func At(ctx context.Context, step string) error {
	if hook, ok := ctx.Value(hookKey{}).(func(string) error); ok {
		return hook(step)
	}
	return nil
}
