package effect

import (
	"slices"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// callers keeps calls of one record key apart: one desk makes them one after the other, but the
// letters of a partition have a desk of their own. Who waits is called in turn.
type callers struct {
	mu    sync.Mutex
	lines map[caller][]place // the first one is called, or asks next
}

// place is a task's place in a line. Who waits asks often, or waits for something else, too: then
// it holds up nobody.
type place struct {
	of     *task
	asked  time.Time
	called bool
}

type caller struct {
	partition idemtype.Partition
	key       string
}

func callerOf(t *task) caller { return caller{t.desk.partition, string(t.message.Key)} }

// enter reports whether it is the task's turn, and no other call of its record key is made. Then
// none is until leave.
func (c *callers) enter(t *task) bool {
	if t.message.Key == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := callerOf(t)
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
	c.mu.Lock()
	defer c.mu.Unlock()
	of := callerOf(t)
	if c.lines[of] == nil {
		return
	}
	if c.lines[of] = slices.DeleteFunc(c.lines[of], func(p place) bool { return p.of == t }); len(c.lines[of]) == 0 {
		delete(c.lines, of)
	}
}
