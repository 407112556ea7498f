package effect

import (
	"context"
	"fmt"
	"sync"

	"github.com/idemgen/idemgen/runtime/wire"
)

// turns makes the tasks of a process that need the same lock acquire it one after another, in
// order of arrival. Only the first one makes requests to the store, and the next one need not poll
// for the lock.
type turns struct {
	mu   sync.Mutex
	last map[wire.Lock]*turn
}

// turn is a place in the line for a lock.
type turn struct {
	before <-chan struct{} // closed when the previous one has left; nil for the first
	over   chan struct{}
}

// line joins the end of the line for a lock.
func (q *turns) line(of wire.Lock) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.join(of)
}

func (q *turns) join(of wire.Lock) *turn {
	t := &turn{over: make(chan struct{})}
	if last := q.last[of]; last != nil {
		t.before = last.over
	}
	if q.last == nil {
		q.last = map[wire.Lock]*turn{}
	}
	q.last[of] = t
	return t
}

// leave gives the next one its turn.
func (q *turns) leave(of wire.Lock, t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last[of] == t {
		delete(q.last, of)
	}
	close(t.over)
}

// queue waits for the task's turn, if its event has a lock and the task has no turn yet. It
// reports false if quit ends first. say is called with what it waits for.
func (l *lock) queue(quit context.Context, say func(string)) bool {
	if l.of.Name == "" || l.turn != nil {
		return true
	}
	l.turn = l.process.turns.line(l.of)
	if l.turn.before == nil {
		return true
	}
	say(fmt.Sprintf("lock %q, which another call of this process holds or waits for", l.of.Name))
	select {
	case <-l.turn.before:
		l.turn.before = nil // and with it all the others before
		return true
	case <-quit.Done():
		l.pass()
		return false
	}
}

// pass leaves the line before the task's turn has come: the next one then waits for those before.
func (l *lock) pass() {
	turn, q, of := l.turn, &l.process.turns, l.of
	l.turn = nil
	go func() {
		<-turn.before
		q.leave(of, turn)
	}()
}

// leave gives the task's turn to the next one.
func (l *lock) leave() {
	if turn := l.turn; turn != nil {
		l.turn = nil
		l.process.turns.leave(l.of, turn)
	}
}
