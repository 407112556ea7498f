package idemtest

import (
	"context"

	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// Steps are the places at which [AtSteps] can stop a batch, in their order.
var Steps = []string{
	fault.BeforeSend, fault.BeforeClaim, fault.AfterAppend, fault.AfterHandler, fault.BeforeCommit, fault.Reply,
}

// effectSteps are the steps of an effect, which come before those of its batch.
var effectSteps = []string{fault.BeforeLease, fault.AfterLock, fault.AfterLease, fault.AfterCall, fault.AfterDone}

// AtSteps returns a context for Run, or for Apply, in which hook is called at every step
// of every batch, by several goroutines at once. Its error stops the batch there; a hook
// that ends the process makes a crash at that step. For programs that test recovery.
func AtSteps(ctx context.Context, hook func(step string) error) context.Context {
	return fault.With(ctx, hook)
}
