package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	mostRows  = 4000     // read and not deleted yet
	mostBytes = 16 << 20 // of their payloads
	mostHeld  = 5000     // aggregates that are held back, while others go on
	mostDue   = 100      // of them that are read at once, to be tried again
	// removeAgain is how long an acknowledged event stays in the table at most, unless its row is
	// locked, and how often it is tried then.
	removeAgain = 200 * time.Millisecond
	readAgain   = 50 * time.Millisecond
	mostPause   = 2 * time.Second // until a broker that fails is asked again
	// countEvery is how often events are counted. It also keeps the session alive: see silence.
	countEvery = 3 * time.Second
)

// aggregate is what keeps its order.
type aggregate struct{ kind, id string }

// lead is the time in which one relay leads. What it knows ends with it.
//
// Of an aggregate one event is on its way at a time, the first of its line: else one that the
// broker refuses would be overtaken by the next. Those of other aggregates go beside it.
type lead struct {
	*Relay
	*talk
	lines map[aggregate][]*event // read, and not acknowledged: the first is on its way, or waits
	sent  map[int64]*event       // on their way
	acked acked                  // to be deleted
	held  map[aggregate]*held
	bytes int
	done  chan outcome

	broker outage
	alone
	more    bool // the last read left events behind
	read    time.Time
	counted time.Time
}

// alone is about events that were refused: each is tried again alone, since it may have been in a
// batch that was too large.
type alone struct {
	tried  time.Time // one of them again
	others time.Time // have their turn until then
	told   bool      // the log has an event that was refused alone
}

// eventsKey is the advisory lock of the relay that sends events.
const eventsKey = `20041965::bigint << 32 | 'idem_outbox'::regclass::oid::bigint`

// events is the duty to send events.
func (r *Relay) events() duty {
	return duty{
		what: "events", database: aboutDatabase, tells: []string{aboutBroker, aboutRefused, aboutWaiting},
		key:     eventsKey,
		proof:   `WITH free AS (SELECT seq FROM idem_outbox WHERE false FOR UPDATE) DELETE FROM idem_outbox USING free WHERE idem_outbox.seq = free.seq`,
		channel: "idem_outbox", follow: r.follow,
		lead: func(ctx context.Context, t tenure) error {
			r.tell(aboutLeader, nil)
			r.count(func(n *numbers) { n.Leading = true })
			defer r.count(func(n *numbers) { n.retire() })
			return newLead(r, t).run(ctx)
		},
	}
}

// event is a row of the table.
type event struct {
	aggregate
	seq     int64
	id      string
	kindOf  string // the event's type
	record  Record
	noTopic error // why the record has no topic
}

// outcome is what the producer says of an event.
type outcome struct {
	seq int64
	err error
}

// held is an aggregate whose first event the broker refuses.
type held struct {
	seq      int64
	failures int
	until    time.Time
	err      error
}

func newLead(r *Relay, t tenure) *lead {
	return &lead{
		Relay: r, talk: newTalk(t, r.pace.silence),
		lines: map[aggregate][]*event{}, sent: map[int64]*event{}, held: map[aggregate]*held{},
		done: make(chan outcome, mostRows),
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
	timer := time.NewTimer(readAgain)
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
	locked  int       // of them, the first ones: somebody else has their rows
	removed time.Time // when they were deleted last
}

// inquire asks what it is time for: what was acknowledged is deleted, then there is room to read.
func (l *lead) inquire() {
	now := time.Now()
	switch {
	case l.busy:
	case now.Sub(l.counted) >= countEvery:
		l.counted = now
		l.ask(l.measure)
	case l.mayRemove(now):
		l.acked.removed = now
		l.ask(l.remove(l.acked.seqs, l.acked.locked > 0))
	case l.room() && (l.more || now.Sub(l.read) >= readAgain):
		l.read = now
		l.ask(l.fill(now))
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
	case len(l.lines) > 0:
		return min(most, max(time.Until(l.broker.resume), time.Until(l.others), time.Millisecond))
	case len(l.held) > 0:
		first := slices.MinFunc(slices.Collect(maps.Values(l.held)), func(a, b *held) int { return a.until.Compare(b.until) })
		return min(most, max(time.Until(l.broker.resume), time.Until(first.until), readAgain))
	}
	return most
}

// room reports whether more events may be read.
func (l *lead) room() bool {
	return len(l.sent) <= mostRows/2 && l.waiting()+len(l.acked.seqs) <= mostRows/2 && l.bytes <= mostBytes/2 && !time.Now().Before(l.broker.resume)
}

// waiting is how many events were read and are not acknowledged.
func (l *lead) waiting() (n int) {
	for _, line := range l.lines {
		n += len(line)
	}
	return n
}

// sendFirsts sends the first event of each line; of one line only while the broker fails. An event
// that was refused goes alone: it may have been in a batch that was too large.
func (l *lead) sendFirsts() {
	if time.Now().Before(l.broker.resume) {
		return
	}
	if e := l.suspect(); e != nil {
		if len(l.sent) == 0 {
			l.send(e)
		}
		return
	}
	for a, line := range l.lines {
		switch {
		case l.broker.failures > 0 && len(l.sent) > 0:
			return
		case l.held[a] == nil:
			l.send(line[0])
		}
	}
}

// suspect is an event that was refused, and is tried again; nil if there is none, or others have
// their turn.
func (l *lead) suspect() *event {
	if time.Now().Before(l.others) {
		return nil
	}
	for a := range l.held {
		if line := l.lines[a]; len(line) > 0 {
			return line[0]
		}
	}
	return nil
}

// send sends an event, if it is not on its way. A process that slept for so long that another one
// may lead by now sends nothing before it has asked.
func (l *lead) send(e *event) {
	if l.sent[e.seq] != nil || l.mayBeOver() {
		return
	}
	l.sent[e.seq] = e
	if e.noTopic != nil {
		l.done <- outcome{e.seq, &RefusedError{e.noTopic}}
		return
	}
	if l.held[e.aggregate] != nil {
		l.tried = time.Now()
	}
	l.produce(e.record, func(err error) { l.done <- outcome{e.seq, err} })
}

// conclude takes what became of an event. The next one of its line follows at once.
func (l *lead) conclude(o outcome) {
	e := l.sent[o.seq]
	delete(l.sent, o.seq)
	refused, is := errors.AsType[*RefusedError](o.err)
	switch {
	case o.err == nil:
		l.worked(e)
	case is:
		l.hold(e, refused)
	default:
		l.failed(o.err)
	}
}

// worked is for an event that the broker has.
func (l *lead) worked(e *event) {
	l.acked.seqs = append(l.acked.seqs, e.seq)
	l.count(func(n *numbers) { n.Sent++ })
	l.drop(e)
	if l.held[e.aggregate] != nil {
		delete(l.held, e.aggregate)
		l.tellHeld()
	}
	if l.broker.failures > 0 {
		l.log().Info("outbox: the broker takes events again", "after", time.Since(l.broker.since).Round(time.Second))
		l.broker = outage{}
		l.tell(aboutBroker, nil)
	}
	if line := l.lines[e.aggregate]; len(line) > 0 && l.suspect() == nil {
		l.send(line[0])
	}
}

// drop takes the first event out of its line.
func (l *lead) drop(e *event) {
	l.bytes -= len(e.record.Value)
	if l.lines[e.aggregate] = l.lines[e.aggregate][1:]; len(l.lines[e.aggregate]) == 0 {
		delete(l.lines, e.aggregate)
	}
}

// failed is for a broker that does not answer, or cannot: no event is to blame, and all wait.
func (l *lead) failed(err error) {
	err = l.broker.fail("events", err)
	if l.tell(aboutBroker, err) {
		l.log().Warn("outbox: the broker takes no events", "err", err, "next", time.Until(l.broker.resume).Round(time.Millisecond))
	}
}

// hold holds an aggregate back, whose first event the broker refuses. It is read again later.
func (l *lead) hold(e *event, err error) {
	h := l.held[e.aggregate]
	if h == nil {
		h = &held{}
		l.held[e.aggregate] = h
	} else { // nothing else was sent meanwhile
		l.others = time.Now().Add(max(readAgain, 9*time.Since(l.tried)))
	}
	h.seq = e.seq
	h.failures++
	l.count(func(n *numbers) { n.Refused++ })
	h.until = time.Now().Add(pause(h.failures))
	h.err = fmt.Errorf("event %s of type %.250q, aggregate %.250q %.250q, to topic %.250q: %w", e.id, e.kindOf, e.kind, e.aggregate.id, e.record.Topic, err)
	for _, waits := range l.lines[e.aggregate] {
		l.bytes -= len(waits.record.Value)
	}
	delete(l.lines, e.aggregate)
	if h.failures == 2 { // this time it went alone
		l.told = true
		l.log().Error("outbox: an event is refused, and holds back its aggregate", append([]any{"err", h.err}, stack(err)...)...)
	}
	l.tellHeld()
}

// tellHeld has Health name one of the events that are refused.
func (l *lead) tellHeld() {
	l.count(func(n *numbers) { n.HeldBack = len(l.held) })
	if len(l.held) == 0 {
		l.tell(aboutRefused, nil)
		if l.told {
			l.told = false
			l.log().Info("outbox: no event is refused, and no aggregate held back")
		}
		return
	}
	first := slices.MinFunc(slices.Collect(maps.Values(l.held)), func(a, b *held) int { return cmp.Compare(a.seq, b.seq) })
	l.tell(aboutRefused, fmt.Errorf("%d aggregates are held back, the first one by %w", len(l.held), first.err))
}
