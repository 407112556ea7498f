package member

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// comparison schedules the comparisons of partitions with the brokers' logs, in the background.
// The topic is compared for all partitions, often, because the client continues to read a
// recreated topic as if it were the old one. The end of the log is compared for partitions without
// a record since the last comparison. The watermarks are compared for partitions that have been
// silent for long, that have records in the log, or whose position the client lost. The client may
// report a lost position only once and without naming the partition, which is silent from then on.
type comparison struct {
	interval     time.Duration
	retry        time.Duration // interval while something is wrong
	silence      time.Duration // after which a silent partition is compared with its log
	next         time.Time
	nextForLost  time.Time // not before, although a position is lost
	positionLost bool      // the client lost one
	running      bool
	found        chan findings   // of the running comparison
	failure      string          // why the last one failed
	retention    map[string]bool // topics whose retention was compared with the window of their keys
}

func newComparison(p Pace) comparison {
	return comparison{
		interval: p.Compare, retry: p.Backoff, silence: p.Silence,
		next: time.Now().Add(p.Compare), found: make(chan findings, 3), retention: map[string]bool{},
	}
}

func (c *comparison) due(now time.Time) bool {
	if c.running || c.positionLost && now.Before(c.nextForLost) {
		return false
	}
	return c.positionLost || now.After(c.next)
}

// begin records that a comparison is running. forLost means that lost positions must be found.
func (c *comparison) begin(now time.Time, unreachable bool) (forLost bool) {
	forLost = c.positionLost
	c.running, c.positionLost, c.nextForLost = true, false, now.Add(c.retry)
	switch {
	case unreachable:
		c.next = now.Add(c.retry)
	case !forLost:
		c.next = now.Add(c.interval)
	}
	return forLost
}

// end records that a comparison has ended, with its error if brokers responded. It reports whether
// the error must be logged: once while the cause is the same.
func (c *comparison) end(answered bool, err error, forLost bool) (log bool) {
	c.running = false
	c.positionLost = c.positionLost || forLost && err != nil
	if !answered { // the sink reports that
		return false
	}
	text := fmt.Sprint(err)
	log = err != nil && text != c.failure
	c.failure = text
	return log
}

// subject is a partition as it was when a comparison began.
type subject struct {
	partition *Partition
	topic     intake.Topic
	at        idemtype.Position
	heard     bool // a record came since the last comparison, or is not wanted now
	lost      bool // the client lost the position
	overdue   bool // no record has arrived for so long that it is read again if there is one
	silent    bool // its watermarks must be compared
}

// verdict is the result of a comparison for a partition.
type verdict int

const (
	inOrder      verdict = iota // apparently the client delivers all available records
	topicChanged                // it was recreated, or has more partitions
	outOfLog                    // the position is not in the log
	cut                         // the log was truncated below the position, and has grown again
	unread                      // the log has more
	held                        // the log has more, behind an open transaction
)

// finding is a subject with the result of its comparison.
type finding struct {
	subject
	now       intake.Topic
	low, high int64
	asked     time.Time // before the end was asked for
	end       int64     // of the log, with open transactions; of a silent partition
	holder    string    // producer of the first open transaction; "" if unknown
	epochEnd  int64     // of the position's leader epoch, if the client lost the position or does not read on from it
}

// findings are a part of the results of a comparison, sent as soon as they are known.
type findings struct {
	topics *topicsAnswer                // the first part
	ends   map[idemtype.Partition]int64 // of logs
	asked  time.Time                    // before the ends were asked for
	list   []finding
	last   bool  // the comparison has ended
	err    error // why it is not complete
	lost   bool  // it was made for a lost position
}

// topicsAnswer is the brokers' response to a query for the group's topics.
type topicsAnswer struct {
	topics map[string]intake.Topic
	err    error
	alarms int // number of alarms when the query was made
}

// compare begins a comparison.
func (m *Member) compare(now time.Time) {
	forLost := m.comparison.begin(now, m.group.unreachable != nil)
	ask, alarms, topics := m.partitions.withoutEnd(), m.group.alarms, m.knownTopics()
	var list []subject
	for _, p := range m.partitions.all {
		if !p.cursor.IsRead() {
			continue
		}
		if p.paused || p.cursor.State == intake.Reading && !p.delivery.Queue.Dry() { // it has records
			p.silence.heard()
		}
		s := subject{partition: p, topic: p.cursor.Topic, at: p.cursor.At(), heard: !p.silence.quiet, lost: p.lost}
		s.overdue = p.silence.lasts(m.comparison.silence, now)
		s.silent = s.overdue || p.lost
		list = append(list, s)
	}
	m.calls.Go(func() {
		answer := topicsAnswer{alarms: alarms}
		answer.topics, answer.err = m.client.Topics(m.ctx, topics...)
		if answer.err != nil {
			m.comparison.found <- findings{topics: &answer, last: true, err: answer.err, lost: forLost}
			return
		}
		m.comparison.found <- findings{topics: &answer}
		asked := time.Now()
		ends, endsErr := m.client.Ends(m.ctx, ask)
		m.comparison.found <- findings{ends: ends, asked: asked}
		found, err := compareWith(m.ctx, m.client, list, answer.topics, ends)
		m.comparison.found <- findings{list: found, last: true, err: errors.Join(endsErr, err), lost: forLost}
	})
}

// knownTopics returns the subscribed topics, and those of assigned partitions.
func (m *Member) knownTopics() []string {
	names := slices.Clone(m.sub.Topics)
	for id := range m.partitions.all {
		names = append(names, id.Topic)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// compareWith makes the queries that are needed to judge partitions, until one fails.
func compareWith(ctx context.Context, c Asker, list []subject, topics map[string]intake.Topic, ends map[idemtype.Partition]int64) (found []finding, err error) {
	for _, s := range list {
		id := s.partition.delivery.Partition
		f := finding{subject: s, now: topics[id.Topic], epochEnd: s.at.Offset}
		behind := !s.heard && ends[id] > s.at.Offset // perhaps an open transaction delays the records
		if (s.silent || behind) && !f.otherTopic() {
			if f.low, f.high, err = c.Watermarks(ctx, id); err != nil {
				return found, err
			}
			f.silent = s.silent || f.high > s.at.Offset
		}
		if f.silent && !f.otherTopic() {
			if err = f.askEnd(ctx, c); err != nil {
				return found, err
			}
		}
		if (s.lost || f.silent && f.at.Offset < f.high) && f.at.Epoch >= 0 && !f.otherTopic() {
			if f.epochEnd, err = c.EpochEnd(ctx, id, f.at); err != nil {
				return found, err
			}
		}
		found = append(found, f)
	}
	return found, nil
}

// askEnd queries the end of the log, and the producer whose open transaction delays records.
func (f *finding) askEnd(ctx context.Context, c Asker) error {
	id := f.partition.delivery.Partition
	f.asked = time.Now()
	ends, err := c.Ends(ctx, []idemtype.Partition{id})
	if err != nil {
		return err
	}
	if f.end = max(f.high, ends[id]); f.shows() == held {
		f.holder = c.OpenTransaction(ctx, id)
	}
	return nil
}

// otherTopic reports whether the topic is not the one that was passed to the sink.
func (f finding) otherTopic() bool { return f.now != f.topic }

// shows returns the verdict of the brokers' responses.
func (f finding) shows() verdict {
	switch {
	case f.otherTopic():
		return topicChanged
	case !f.silent:
		return inOrder
	case f.at.Offset < f.low || f.at.Offset > f.high:
		return outOfLog
	case f.epochEnd < f.at.Offset:
		return cut
	case f.at.Offset < f.high:
		return unread
	case f.end > f.high:
		return held
	}
	return inOrder
}

// applyFindings makes partitions be taken over again if their topic is not the one that was passed
// to the sink, or if their position does not exist in the broker's log, so that the sink halts
// them with the reason. If the client lost a position, or is silent although there are records,
// the partition is read again from its position; if that does not help, applyFindings reports it
// to the sink.
func (m *Member) applyFindings(found findings) {
	if t := found.topics; t != nil {
		m.group.answered(*t)
		m.tellGroup()
	}
	for id, end := range found.ends {
		if m.partitions.all[id] != nil {
			m.sink.End(id, end, found.asked)
		}
	}
	for _, f := range found.list {
		if p := f.partition; m.partitions.holds(p) && p.cursor.Topic == f.topic {
			m.apply(f)
		}
	}
	if found.last && m.comparison.end(found.topics == nil, found.err, found.lost) {
		m.log.Warn("partitions could not be compared with the broker", "err", found.err)
	}
}

func (m *Member) apply(f finding) {
	p, id := f.partition, f.partition.delivery.Partition
	verdict := f.shows()
	if f.silent && verdict != topicChanged {
		p.end = f.end
		m.sink.End(id, f.end, f.asked)
	}
	caughtUp := f.silent && verdict == inOrder
	if verdict != topicChanged && (f.heard || caughtUp) && p.silence.over() {
		m.log.Info("the client delivers records again", "topic", id.Topic, "partition", id.Number)
		m.sink.Silent(id, time.Time{}, "")
	}
	if caughtUp && p.cursor.Next == f.at.Offset {
		m.ReachedEnd(p, f.at.Offset)
	}
	switch {
	case verdict == topicChanged:
		m.log.Warn("the topic has changed", "topic", id.Topic, "partition", id.Number,
			"again", f.now.ID != f.topic.ID, "partitions", f.now.Partitions, "before", f.topic.Partitions)
		p.delivery.TakeOverAgain()
	case verdict == outOfLog:
		m.log.Warn("position is not in the broker's log", "topic", id.Topic, "partition", id.Number,
			"position", f.at.Offset, "low", f.low, "high", f.high)
		p.delivery.TakeOverAgain()
	case verdict == cut:
		m.log.Warn("the log was truncated below the position", "topic", id.Topic, "partition", id.Number,
			"position", f.at.Offset, "epoch", f.at.Epoch, "end", f.epochEnd)
		p.delivery.TakeOverAgain()
	case f.lost:
		m.fetcher.readAgain(p)
	case verdict == unread && p.cursor.Next == f.at.Offset:
		first := p.silence.behind.IsZero()
		if first || f.overdue {
			m.log.Warn("the client delivers no records although the broker has some: setting its position again",
				"topic", id.Topic, "partition", id.Number, "offset", f.at.Offset, "end", f.high)
			m.fetcher.readAgain(p)
		}
		if p.silence.stuck(time.Now()) {
			m.sink.Silent(id, p.silence.behind, "the broker has records, but the client delivers none")
		}
	case verdict == held:
		if p.silence.stuck(time.Now()) {
			why := "records wait behind an open transaction of " + cmp.Or(f.holder, "a producer")
			m.log.Error(why, "topic", id.Topic, "partition", id.Number, "offset", f.high)
			m.sink.Silent(id, p.silence.behind, fmt.Sprintf("%s, at offset %d", why, f.high))
		}
	}
}
