package outbox

import (
	"errors"
	"time"
)

const (
	// tellAfter is how long an event may wait for its answer until Health names it.
	tellAfter = 5 * time.Second
	// mostLate bounds the payloads of the events that wait for late answers. Events are retried only
	// below a quarter of it, so retries leave room for others.
	mostLate = 4 * mostBytes
)

// unanswered are the events that are in flight and whose answer is late, because their partition
// does not answer or the producer waits for their topic. They take no room that others need: each
// is the only event of its aggregate that is kept, the later ones stay in the table.
type unanswered struct {
	late      map[aggregate]*event
	lateBytes int // of their payloads
}

// recognizeLate finds the events whose answer is late. It must not be called while a read is under
// way: that read leaves out the events that are dropped here, and not those that follow them.
func (l *lead) recognizeLate(now time.Time) {
	for _, e := range l.sent {
		if e.late || now.Sub(e.at) < l.pace.late {
			continue
		}
		e.late = true
		l.late[e.aggregate] = e
		l.to(e).flying--
		line := l.lines[e.aggregate]
		for _, waits := range line {
			l.bytes -= waits.bytes
		}
		l.lateBytes += e.bytes
		l.lines[e.aggregate] = line[:1:1]
	}
}

// answered takes it that an event is not in flight any more.
func (l *lead) answered(e *event) {
	delete(l.sent, e.seq)
	if !e.late {
		l.to(e).flying--
		return
	}
	e.late = false
	delete(l.late, e.aggregate)
	l.lateBytes -= e.bytes
	l.bytes += e.bytes
	l.read = time.Time{} // its later events are in the table
}

// stopped returns the number of aggregates of events, or else of dead letters, that are held back
// or wait for a late answer.
func (l *lead) stopped(letters bool) (n int) {
	for a := range l.held {
		if a.letters == letters {
			n++
		}
	}
	for a := range l.late {
		if a.letters == letters && l.held[a] == nil {
			n++
		}
	}
	return n
}

// tellUnanswered makes Health name the event that has waited longest for its answer.
func (l *lead) tellUnanswered(now time.Time) {
	var first *event
	n := 0
	for _, e := range l.late {
		if now.Sub(e.at) < tellAfter {
			continue
		}
		if n++; first == nil || e.at.Before(first.at) {
			first = e
		}
	}
	if n == 0 {
		l.tell(aboutUnanswered, nil)
		return
	}
	err := &lasting{count(n, "aggregate waits", "aggregates wait") + " for an answer of the broker, the first one", first.at, errors.New(first.name())}
	if l.tell(aboutUnanswered, err) {
		l.log().Warn("outbox: " + err.Error())
	}
}
