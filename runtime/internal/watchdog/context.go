package watchdog

import (
	"context"
	"sync"
	"time"
)

// Context is the context of one call, from [Watch.Call] on. It ends at the call's timeout, with
// the work's context, and with End. Most calls only pass it to statements, so its channel is
// created lazily.
type Context struct {
	work       context.Context
	statements *shared

	mu       sync.Mutex
	begun    time.Time
	deadline time.Time
	made     *shared // nil before it is needed
	timer    *time.Timer
	paused   time.Time // since then the call's time does not pass; zero if it does
	ended    bool
}

func (c *Context) begin(work context.Context, limit time.Duration, statements *shared) {
	now := time.Now()
	*c = Context{work: work, begun: now, deadline: within(work, now.Add(limit)), statements: statements}
}

// Statements returns a context for statements that the call sends and waits for itself. It ends at
// the call's timeout or with the work's context. It is cheaper than the call's own context,
// because calls share it.
func (c *Context) Statements() context.Context { return c.statements }

// Deadline returns when the call times out.
func (c *Context) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deadline, true
}

// Done is closed when the call times out, when the work's context ends, or when the call has
// ended.
func (c *Context) Done() <-chan struct{} { return c.standard().Done() }

// Err returns why the context has ended; nil while it has not. After the timeout it waits until
// Done is closed, because statements may have ended a moment before.
func (c *Context) Err() error {
	if c.unused() && !c.Over() {
		return nil
	}
	ctx := c.standard()
	if c.overdue() {
		c.expire()
	}
	return ctx.Err()
}

// unused reports whether the context has not ended by End, and nobody has asked for its channel.
func (c *Context) unused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made == nil && !c.ended
}

// Over reports whether the context has ended other than by End.
func (c *Context) Over() bool { return c.work.Err() != nil || c.overdue() }

func (c *Context) overdue() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused.IsZero() && !time.Now().Before(c.deadline)
}

// Value returns the value of the work's context.
func (c *Context) Value(key any) any { return c.work.Value(key) }

// AfterFunc lets package context derive contexts without a goroutine for each.
func (c *Context) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(c.standard(), f) }

// End ends the context, unless it has already ended.
func (c *Context) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.made != nil {
		c.timer.Stop()
		c.made.cancel(context.Canceled)
	}
}

// pause stops the call's time until resume, which moves the deadline, but not past that of the
// work.
func (c *Context) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = time.Now()
}

func (c *Context) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	by := time.Since(c.paused)
	c.begun, c.deadline, c.paused = c.begun.Add(by), within(c.work, c.deadline.Add(by)), time.Time{}
	if c.made != nil {
		c.timer.Reset(time.Until(c.deadline))
	}
}

// expire ends the context if the call has timed out.
func (c *Context) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused.IsZero() && !time.Now().Before(c.deadline) {
		c.made.cancel(context.DeadlineExceeded)
	}
}

func (c *Context) standard() *shared {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made = share(c.work)
		if c.ended {
			c.made.cancel(context.Canceled)
		}
		c.timer = time.AfterFunc(time.Until(c.deadline), c.expire)
	}
	return c.made
}

// within returns the earlier of a time and the deadline of the work.
func within(work context.Context, t time.Time) time.Time {
	if end, ok := work.Deadline(); ok && end.Before(t) {
		return end
	}
	return t
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
