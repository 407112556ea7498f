package watchdog

import (
	"context"
	"sync"
	"time"
)

// Context is the context of one call. It ends at the call's timeout, with the work's context, and
// with End. Most calls only pass it to statements, so its channel is created lazily.
type Context struct {
	work       context.Context
	begun      time.Time
	deadline   time.Time
	statements *shared

	mu     sync.Mutex
	made   context.Context // that ends; nil before it is needed
	cancel context.CancelFunc
	ended  bool
}

func newContext(work context.Context, limit time.Duration, statements *shared) *Context {
	now := time.Now()
	deadline := now.Add(limit)
	if end, ok := work.Deadline(); ok && end.Before(deadline) {
		deadline = end
	}
	return &Context{work: work, begun: now, deadline: deadline, statements: statements}
}

// Statements returns a context for statements that the call sends and waits for itself. It ends at
// the call's timeout or with the work's context. It is cheaper than the call's own context,
// because calls share it.
func (c *Context) Statements() context.Context { return c.statements }

// Deadline returns when the call times out.
func (c *Context) Deadline() (time.Time, bool) { return c.deadline, true }

// Done is closed when the call times out, when the work's context ends, or when the call has
// ended.
func (c *Context) Done() <-chan struct{} { return c.standard().Done() }

// Err returns why the context has ended; nil while it has not. After the timeout it waits until
// Done is closed, because statements may have ended a moment before.
func (c *Context) Err() error {
	ctx := c.standard()
	if !time.Now().Before(c.deadline) {
		<-ctx.Done()
	}
	return ctx.Err()
}

// Over reports whether the context has ended other than by End.
func (c *Context) Over() bool { return c.work.Err() != nil || !time.Now().Before(c.deadline) }

// Value returns the value of the work's context.
func (c *Context) Value(key any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made != nil {
		return c.made.Value(key) // derived contexts find their parent by this
	}
	return c.work.Value(key)
}

// End ends the context, unless it has already ended.
func (c *Context) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}

func (c *Context) standard() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made, c.cancel = context.WithDeadline(c.work, c.deadline)
		if c.ended {
			c.cancel()
		}
	}
	return c.made
}

// shared is a context shared by all calls that have not timed out.
type shared struct {
	context.Context
	cancel context.CancelCauseFunc
}

func share(work context.Context) *shared {
	ctx, cancel := context.WithCancelCause(work)
	return &shared{ctx, cancel}
}

// Err returns DeadlineExceeded if a call timed out, as that call's own context does.
func (s *shared) Err() error {
	err := s.Context.Err()
	if err != nil && context.Cause(s.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}
