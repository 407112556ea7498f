package effect

import (
	"slices"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// callers prevents concurrent calls with the same record key. One desk makes such calls one after
// another, but the dead letters of a partition have a desk of their own. Waiting tasks take turns
// in order of arrival.
type callers struct {
	mu    sync.Mutex
	lines map[caller][]place // the first one is being called, or is next
}

// place is a task's place in a line. A waiting task polls often. If it stops polling, because it
// waits for something else, it does not hold up the others.
type place struct {
	of     *task
	asked  time.Time
	called bool
}

type caller struct {
	partition idemtype.Partition
	key       string
}

// enter reports whether it is the task's turn, and no other call with its record key is running.
// If so, none will run until leave.
func (c *callers) enter(t *task) bool {
	if t.message.Key == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := t.caller
	if c.lines == nil {
		c.lines = map[caller][]place{}
	}
	now := time.Now()
	line := slices.DeleteFunc(c.lines[of], func(p place) bool { return p.of != t && !p.called && now.Sub(p.asked) > 3*busyPoll })
	at := slices.IndexFunc(line, func(p place) bool { return p.of == t })
	if at < 0 {
		at, line = len(line), append(line, place{of: t})
	}
	line[at].asked, line[at].called = now, at == 0
	c.lines[of] = line
	return at == 0
}

// leave ends the task's turn, or its wait for one.
func (c *callers) leave(t *task) {
	if t.message.Key == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := t.caller
	if c.lines[of] == nil {
		return
	}
	if c.lines[of] = slices.DeleteFunc(c.lines[of], func(p place) bool { return p.of == t }); len(c.lines[of]) == 0 {
		delete(c.lines, of)
	}
}
