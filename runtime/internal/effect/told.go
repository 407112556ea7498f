package effect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/lease"
)

// tally counts the calls of a process, and tracks those that are running.
type tally struct {
	mu      sync.Mutex
	stats   idemtype.CallStats // without Running and Oldest
	running map[*task]time.Time
	late    map[*task]time.Time // when their context ended, of calls that are still running
}

// overdue records that a call is still running although its context has ended, until the returned
// function is called.
func (c *tally) overdue(t *task) (over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late == nil {
		c.late = map[*task]time.Time{}
	}
	c.late[t] = time.Now()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.late, t)
	}
}

// Late returns the calls of this process that are still running although their context has ended.
func (p *Process) Late() (all []idemtype.Problem) {
	c := &p.tally
	c.mu.Lock()
	defer c.mu.Unlock()
	for t, since := range c.late {
		m := &t.message
		reason := fmt.Errorf("effect %s, offset %d, is still running after its context ended at %s: its lease is held, and the partition waits, even under another owner",
			t.effect.Event, m.Offset, since.UTC().Format(time.RFC3339))
		all = append(all, idemtype.Problem{
			Code: "effect-running", Topic: m.Topic, Partition: m.Partition, Since: since, Reason: reason.Error(),
			Do: "make the effect return when its context ends", Err: reason,
		})
	}
	return all
}

// Stats counts the calls of this process.
func (p *Process) Stats() idemtype.CallStats {
	c := &p.tally
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Running = len(c.running)
	for _, began := range c.running {
		s.Oldest = max(s.Oldest, time.Since(began))
	}
	s.Failing = p.courses.failing()
	return s
}

// waits changes the number of records that wait for their effect, by 1 or -1.
func (c *tally) waits(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Waiting += by
}

// began records that a call is running, until the returned function is called.
func (c *tally) began(t *task) (ended func() time.Duration) {
	began := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[*task]time.Time{}
	}
	c.running[t] = began
	return func() time.Duration {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, t)
		return time.Since(began)
	}
}

// told counts a call whose end was recorded, or dropped because the lease was lost, and calls the
// hooks.
func (t *task) told(ctx context.Context, attempt int, took time.Duration, state lease.State, held bool, err error) {
	p := t.desk.process
	outcome := hook.CallLost
	p.tally.mu.Lock()
	s := &p.tally.stats
	switch {
	case !held:
		s.Lost++
	case state == lease.Done:
		outcome = hook.CallDone
		s.Done++
	case state == lease.Interrupted:
		outcome = hook.CallInterrupted
		s.Interrupted++
	default:
		outcome = hook.CallFailed
		s.Failed++
	}
	p.tally.mu.Unlock()
	if p.Hooks != nil {
		p.Hooks.Call(ctx, t.desk.owner.Partition, hook.Ended{Offset: t.message.Offset, Event: t.effect.Event, Attempt: attempt, Took: took, Outcome: outcome, Err: err})
	}
}
