package outbox

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

const (
	mostRows  = 4000     // read and not deleted yet
	mostBytes = 16 << 20 // of their payloads
	mostHeld  = 5000     // aggregates of events that are held back, and of dead letters, while others go on
	mostDue   = 100      // of them that are read at once, to be tried again, with a quarter of the bytes
	// removeAgain is how long an acknowledged event stays in the table at most, unless its row is
	// locked, and how often it is tried then.
	removeAgain = 200 * time.Millisecond
	mostPause   = 2 * time.Second // until a broker that fails is asked again
	// mostTurn is how long others are sent before an event that was refused is tried again.
	mostTurn = 10 * time.Second
	// countEvery is how often events are counted. It also keeps the session alive: see silence.
	countEvery = 3 * time.Second
)

// aggregate is what keeps its order.
type aggregate struct {
	kind, id string
	letters  bool // dead letters
}

// lead is the time in which one relay leads. What it knows ends with it.
//
// Of an aggregate one event is on its way at a time, the first of its line: else one that the
// broker refuses would be overtaken by the next. Those of other aggregates go beside it, and no
// failure of one delays them.
type lead struct {
	*runner
	*talk
	lines map[aggregate][]*event // read, and not acknowledged: the first is on its way, or waits
	sent  map[int64]*event       // on their way
	acked acked                  // to be deleted
	holds
	unanswered
	bytes int
	done  chan outcome

	brokenSince time.Time // the broker has accepted nothing; zero: it accepts events
	more        bool      // the last read left events behind
	others      bool      // the last read was of aggregates that are not held back: see crowd
	read        time.Time
	counted     time.Time
}

// event is a row of the table.
type event struct {
	aggregate
	seq     int64
	id      string
	kindOf  string // the event's type
	record  Record
	invalid error     // why there is no topic, or no record
	bytes   int       // of the payload
	at      time.Time // it was sent
	late    bool      // its answer is late
}

// outcome is what the producer says of an event.
type outcome struct {
	seq int64
	err error
}

func newLead(r *runner, t tenure) *lead {
	return &lead{
		runner: r, talk: newTalk(t, r.pace.silence),
		lines: map[aggregate][]*event{}, sent: map[int64]*event{},
		holds:      holds{held: map[aggregate]*held{}, again: map[aggregate]bool{}, topics: map[string]*topic{}},
		unanswered: unanswered{late: map[aggregate]*event{}},
		done:       make(chan outcome, mostRows+2*r.most),
	}
}

// run sends events until the context ends, or the session does.
func (l *lead) run(ctx context.Context) error {
	defer l.abandon()
	for {
		if err := l.turn(ctx); err != nil {
			if ctx.Err() != nil {
				return l.flush(ctx)
			}
			return err
		}
	}
}

// turn asks Postgres what it is time for, sends what may be sent, and waits until there is more to
// do.
func (l *lead) turn(ctx context.Context) error {
	l.inquire()
	l.sendFirsts()
	if len(l.sent) == 0 && !l.busy {
		return l.listen(ctx)
	}
	timer := time.NewTimer(l.pace.again)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	case a := <-l.answers:
		return l.hear(a)
	case o := <-l.done:
		l.conclude(o)
		for len(l.done) > 0 {
			l.conclude(<-l.done)
		}
	}
	return nil
}

// acked are events that the broker has.
type acked struct {
	seqs    []int64
	locked  int       // of them, the first ones: they could not be deleted
	removed time.Time // when they were deleted last
	stuck   time.Time // since when the locked ones cannot be deleted; zero without any
}

// inquire asks what it is time for: what was acknowledged is deleted, then there is room to read.
func (l *lead) inquire() {
	if l.busy {
		return
	}
	now := time.Now()
	l.recognizeLate(now)
	switch {
	case now.Sub(l.counted) >= countEvery:
		l.counted = now
		l.ask(l.measure)
	case l.mayRemove(now):
		l.acked.removed = now
		l.ask(l.remove(l.acked.seqs, l.acked.locked > 0))
	case l.room() && (l.more || now.Sub(l.read) >= l.pace.again):
		l.read = now
		l.ask(l.fill(l.plan(now)))
	}
}

// mayRemove reports whether it is time to delete what was acknowledged.
func (l *lead) mayRemove(now time.Time) bool {
	fresh := len(l.acked.seqs) - l.acked.locked
	return fresh > 0 && len(l.sent) == 0 || fresh >= mostRows/4 || len(l.acked.seqs) > 0 && now.Sub(l.acked.removed) >= removeAgain
}

// listen waits for word of a commit.
func (l *lead) listen(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, l.patience())
	defer cancel()
	_, err := l.conn.WaitForNotification(limited)
	if limited.Err() != nil && ctx.Err() == nil {
		return nil
	}
	l.read = time.Time{} // there is something to read
	return err
}

// patience is how long nothing need be done if no word comes.
func (l *lead) patience() time.Duration {
	most := l.pace.poll
	if len(l.acked.seqs) > 0 {
		most = min(most, removeAgain)
	}
	switch {
	case len(l.lines) > 0: // others have their turn
		return min(most, l.pace.again)
	case len(l.held) > 0:
		first := slices.MinFunc(slices.Collect(maps.Values(l.held)), func(a, b *held) int { return a.until.Compare(b.until) })
		return min(most, max(time.Until(first.until), l.pace.again))
	}
	return most
}

// room reports whether more events may be read.
func (l *lead) room() bool {
	return len(l.sent)-len(l.late) <= mostRows/2 && l.waiting()+len(l.acked.seqs) <= mostRows/2 && l.bytes <= mostBytes/2 && l.lateBytes < mostLate
}

// waiting is how many events were read and are not acknowledged, without those whose answer is
// late.
func (l *lead) waiting() int {
	n := -len(l.late)
	for _, line := range l.lines {
		n += len(line)
	}
	return n
}

// sendFirsts sends the first event of each line.
func (l *lead) sendFirsts() {
	suspects := l.suspects(l.lines)
	for _, line := range l.lines {
		l.next(line, suspects)
	}
}

// next sends the first event of a line, if it is its turn.
func (l *lead) next(line []*event, suspects map[string]*event) {
	e := line[0]
	suspect, h := suspects[e.record.Topic], l.held[e.aggregate]
	switch {
	case suspect == e && l.to(e).flying == 0, suspect == nil && (h == nil || h.why != refused):
		l.send(e)
	}
}

// send sends an event, if it is not on its way. A process that slept for so long that another one
// may lead by now sends nothing before it has asked.
func (l *lead) send(e *event) {
	if l.sent[e.seq] != nil || l.mayBeOver() {
		return
	}
	l.sent[e.seq] = e
	l.to(e).flying++
	e.at = time.Now()
	if e.invalid != nil {
		l.done <- outcome{e.seq, &RefusedError{Err: e.invalid}}
		return
	}
	l.produce(e.record, func(err error) { l.done <- outcome{e.seq, err} })
}

// conclude takes what became of an event. The next one of its line follows at once.
func (l *lead) conclude(o outcome) {
	e := l.sent[o.seq]
	l.answered(e)
	no, is := errors.AsType[*RefusedError](o.err)
	switch {
	case o.err == nil:
		l.worked(e)
	case is:
		l.hold(e, refused, no)
	case l.taken.After(e.at):
		l.hold(e, alone, o.err)
	default:
		l.failed(o.err)
		l.hold(e, away, o.err)
	}
}

// worked is for an event that the broker has.
func (l *lead) worked(e *event) {
	l.acked.seqs = append(l.acked.seqs, e.seq)
	l.count(func(n *numbers) { n.Sent++ })
	l.drop(e)
	l.taken = time.Now()
	if l.held[e.aggregate] != nil {
		l.forget(e.aggregate)
		l.read = time.Time{} // its later events are in the table
	}
	if !l.brokenSince.IsZero() {
		l.returned()
	}
	if line := l.lines[e.aggregate]; len(line) > 0 {
		l.next(line, l.suspects(l.lines))
	}
}

// drop takes the first event out of its line.
func (l *lead) drop(e *event) {
	l.bytes -= e.bytes
	if l.lines[e.aggregate] = l.lines[e.aggregate][1:]; len(l.lines[e.aggregate]) == 0 {
		delete(l.lines, e.aggregate)
	}
}

// failed is for a broker that does not answer, or cannot.
func (l *lead) failed(err error) {
	if l.brokenSince.IsZero() {
		l.brokenSince = time.Now()
	}
	err = &lasting{"the broker has accepted no events", l.brokenSince, err}
	if l.tell(aboutBroker, err) {
		l.log().Error("outbox: the broker accepts no events", "err", err, "do", adviceOn(aboutBroker, err))
	}
}
