// Package fault lets tests stop the runtime at a named step, as a crash would. Without a
// test's hook in the context it does nothing. It must not import any other package of
// this module.
package fault

import "context"

// The steps of one batch, in order.
const (
	BeforeSend   = "before send"   // nothing was sent
	BeforeClaim  = "before claim"  // the known keys were read
	AfterAppend  = "after append"  // explicit transactions: ledger row and claims were sent
	AfterHandler = "after handler" // after each handler call
	BeforeCommit = "before commit" // explicit transactions: all but COMMIT was sent
	Reply        = "reply"         // committed; the reply is withheld
)

type hookKey struct{}

// With returns a context in which hook is asked at every step; its error stops the step.
func With(ctx context.Context, hook func(step string) error) context.Context {
	return context.WithValue(ctx, hookKey{}, hook)
}

// At asks the hook of ctx, if there is one.
func At(ctx context.Context, step string) error {
	if hook, ok := ctx.Value(hookKey{}).(func(string) error); ok {
		return hook(step)
	}
	return nil
}
