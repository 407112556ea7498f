package outbox

import (
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/process"
)

// holds are the events that failed, and where they are tried again.
type holds struct {
	held   map[aggregate]*held
	again  map[aggregate]bool // of those, read to be tried again
	topics map[string]*topic
	taken  time.Time // when the broker took an event last
	told   bool      // the log has an event that was refused alone
}

// topic is where events are on their way to. One that was refused is tried again alone in its
// topic, since it may have been in a batch that was too large.
type topic struct {
	flying int
	others time.Time // those that were not refused have their turn until then
}

// held is an aggregate whose first event failed.
type held struct {
	seq      int64
	bytes    int // of its payload
	why      reason
	failures int
	until    time.Time
	err      error
}

// reason is why an event failed.
type reason int

const (
	refused reason = iota // it is refused
	alone                 // the broker took others meanwhile: its topic or partition cannot be reached
	away                  // the broker took nothing meanwhile
)

// to is the topic of an event.
func (h *holds) to(e *event) *topic {
	t := h.topics[e.record.Topic]
	if t == nil {
		t = &topic{}
		h.topics[e.record.Topic] = t
	}
	return t
}

// suspects are events that were refused, and are tried again: one of each topic, unless others
// have their turn or its answer is late.
func (h *holds) suspects(lines map[aggregate][]*event) map[string]*event {
	all := map[string]*event{}
	for a := range h.again {
		e := lines[a][0]
		if h.held[a].why == refused && !e.late && !time.Now().Before(h.to(e).others) {
			all[e.record.Topic] = e
		}
	}
	return all
}

// returned is for a broker that was away: what waited for it is tried again at once.
func (l *lead) returned() {
	l.log().Info("outbox: the broker accepts events again", "after", time.Since(l.brokenSince).Round(time.Second))
	l.brokenSince = time.Time{}
	l.tell(aboutBroker, nil)
	for _, h := range l.held {
		if h.why == away {
			h.until = time.Now()
		}
	}
}

// forget takes it that an aggregate is not held back any more.
func (l *lead) forget(a aggregate) {
	delete(l.held, a)
	delete(l.again, a)
	l.tellHeld()
}

// hold holds an aggregate back whose first event failed. It is read again later: nothing of it is
// kept, so that there is room for others.
func (l *lead) hold(e *event, why reason, err error) {
	h := l.held[e.aggregate]
	if h == nil {
		h = &held{}
		l.held[e.aggregate] = h
	} else if h.why == refused { // nothing else was sent to its topic meanwhile
		l.to(e).others = time.Now().Add(min(max(l.pace.again, 9*time.Since(e.at)), mostTurn))
	}
	before := h.why
	if why != before {
		h.failures = 0
	}
	h.seq, h.bytes, h.why = e.seq, e.bytes, why
	h.failures++
	h.until = time.Now().Add(h.pause())
	h.err = &heldError{process.Event{ID: e.id, Topic: e.record.Topic, Bytes: e.bytes, Letter: e.letters}, e.name(), err}
	for _, waits := range l.lines[e.aggregate] {
		l.bytes -= waits.bytes
	}
	delete(l.lines, e.aggregate)
	delete(l.again, e.aggregate)
	if why == refused {
		l.count(func(n *numbers) { n.Refused++ })
	}
	if why != away && h.failures == 2 { // this time it went alone
		l.told = true
		l.log().Error("outbox: an event cannot be sent, and holds back its aggregate", append([]any{"err", h.err, "do", adviceOn(aboutRefused, h.err)}, stack(err)...)...)
	}
	if why != away || before != away {
		l.tellHeld()
	}
}

// name identifies the event in errors and log lines.
func (e *event) name() string {
	return fmt.Sprintf("event %s of type %.250q, aggregate %.250q %.250q, to topic %.250q", e.id, e.kindOf, e.kind, e.aggregate.id, e.record.Topic)
}

// pause is how long to wait until the event is tried again.
func (h *held) pause() time.Duration {
	if h.why == away {
		return min(pause(h.failures), mostPause)
	}
	return pause(h.failures)
}

// tellHeld has Health name one of the events that hold back their aggregates. Those that wait for
// a broker that is away are not counted.
func (l *lead) tellHeld() {
	var first *held
	n := 0
	for _, h := range l.held {
		if h.why == away {
			continue
		}
		if n++; first == nil || h.seq < first.seq {
			first = h
		}
	}
	l.count(func(all *numbers) { all.HeldBack = n })
	if n > 0 {
		l.tell(aboutRefused, fmt.Errorf("%s held back, the first one by %w", count(n, "aggregate is", "aggregates are"), first.err))
		return
	}
	l.tell(aboutRefused, nil)
	if l.told {
		l.told = false
		l.log().Info("outbox: aggregates are no longer held back")
	}
}

// count counts in words.
func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
