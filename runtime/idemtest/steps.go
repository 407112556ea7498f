package idemtest

import (
	"context"

	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// Steps are the steps at which [AtSteps] can stop a batch, in order.
var Steps = []string{
	fault.BeforeSend, fault.BeforeClaim, fault.AfterAppend, fault.AfterHandler, fault.BeforeCommit, fault.Reply,
}

// effectSteps are the steps of an effect, which come before those of its batch.
var effectSteps = []string{fault.BeforeLease, fault.AfterLock, fault.AfterLease, fault.AfterCall, fault.AfterDone}

// AtSteps returns a context for Run or Apply in which hook is called at every step of every
// batch. Several goroutines may call it concurrently, also with other steps than those of
// [Steps], such as those of effects, take-overs and upkeep. If hook returns an error, the batch
// stops at that step; if it ends the process, that is a crash at that step. AtSteps is for
// programs that test recovery.
func AtSteps(ctx context.Context, hook func(step string) error) context.Context {
	return fault.With(ctx, hook)
}
