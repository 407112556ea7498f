package watchdog

import (
	"context"
	"sync"
	"time"
)

// Context is the context of one call. It ends with the call's time, with the work's context,
// and with End. Most calls hand it to statements only, so that nothing is made for it
// before somebody asks when it ends.
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

// Statements is a context for what the call sends and waits for itself. It ends when the
// call's time is over or the work's context ends, and is cheaper than the call's own: calls
// share it.
func (c *Context) Statements() context.Context { return c.statements }

// Deadline is when the call's time is over.
func (c *Context) Deadline() (time.Time, bool) { return c.deadline, true }

// Done is closed when the call's time is over, the work's context ends, or the call has ended.
func (c *Context) Done() <-chan struct{} { return c.standard().Done() }

// Err tells why the context has ended; nil while it has not. When the call's time is over it
// waits until Done is closed, since statements may have ended a moment before.
func (c *Context) Err() error {
	ctx := c.standard()
	if !time.Now().Before(c.deadline) {
		<-ctx.Done()
	}
	return ctx.Err()
}

// Over reports whether the context has ended otherwise than by End.
func (c *Context) Over() bool { return c.work.Err() != nil || !time.Now().Before(c.deadline) }

// Value is the work's.
func (c *Context) Value(key any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made != nil {
		return c.made.Value(key) // contexts find the one to which they belong so
	}
	return c.work.Value(key)
}

// End ends the context, if nothing did before.
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

// shared is a context of all calls that have time left.
type shared struct {
	context.Context
	cancel context.CancelCauseFunc
}

func share(work context.Context) *shared {
	ctx, cancel := context.WithCancelCause(work)
	return &shared{ctx, cancel}
}

// Err is DeadlineExceeded when a call's time was over, as for that call's own context.
func (s *shared) Err() error {
	err := s.Context.Err()
	if err != nil && context.Cause(s.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}
