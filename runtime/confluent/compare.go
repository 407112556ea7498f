package confluent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// comparison says when partitions are compared with the brokers' logs, in the background. Of
// all partitions, the topic: the client reads on in a topic that was made again as if it were
// the old one, so that this is done often. Of those that were silent for long, the watermarks;
// and of all, if the client said that it lost a position. It says that only once and without
// naming the partition, which is silent from then on.
type comparison struct {
	interval     time.Duration
	retry        time.Duration // interval while something is wrong
	silence      time.Duration // a partition that is silent for so long is compared with its log
	next         time.Time
	nextForLost  time.Time // not before, although a position is lost
	positionLost bool      // the client lost one, and did not name the partition
	running      bool
	found        chan findings   // of the comparison that runs
	failure      string          // why the last one failed
	retention    map[string]bool // topics whose retention was compared with the window of their keys
}

func newComparison(p pace) comparison {
	return comparison{
		interval: p.compare, retry: p.backoff, silence: p.silence,
		next: time.Now().Add(p.compare), found: make(chan findings, 3), retention: map[string]bool{},
	}
}

func (c *comparison) due(now time.Time) bool {
	if c.running || c.positionLost && now.Before(c.nextForLost) {
		return false
	}
	return c.positionLost || now.After(c.next)
}

// begin notes that a comparison runs. forLost tells that all watermarks are to be compared.
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

// end notes that a comparison is over, with its error if brokers answered. It reports whether
// that must be logged: once while the cause is the same.
func (c *comparison) end(answered bool, err error, forLost bool) (log bool) {
	c.running = false
	c.positionLost = c.positionLost || forLost && err != nil
	if !answered { // the sink is told
		return false
	}
	text := fmt.Sprint(err)
	log = err != nil && text != c.failure
	c.failure = text
	return log
}

// subject is a partition as it was when a comparison began.
type subject struct {
	partition *partition
	topic     intake.Topic
	next      int64
	heard     bool // a record came since the last comparison, or is not wanted now
	silent    bool // its watermarks are to be compared
}

// verdict is what a comparison shows of a partition.
type verdict int

const (
	inOrder      verdict = iota // the client hands over what there is, as far as is known
	topicChanged                // it was made again, or has more partitions
	outOfLog                    // the position is not in the log
	unread                      // the log has more
)

// finding is a subject, compared.
type finding struct {
	subject
	now       intake.Topic
	low, high int64
}

// findings are a part of what a comparison shows, told as soon as it is known.
type findings struct {
	topics *topicsAnswer            // the first part
	ends   map[idem.Partition]int64 // of logs
	list   []finding
	last   bool  // the comparison is over
	err    error // why it is not complete
	lost   bool  // it was made for a lost position
}

// topicsAnswer is what brokers answered to a question for the group's topics.
type topicsAnswer struct {
	topics map[string]intake.Topic
	err    error
	alarms int // that there were when they were asked
}

// compare begins a comparison.
func (r *run) compare(now time.Time) {
	forLost := r.comparison.begin(now, r.group.unreachable != nil)
	var list []subject
	for _, p := range r.partitions.all {
		if !p.cursor.IsRead() {
			continue
		}
		if p.paused {
			p.silence.heard()
		}
		s := subject{partition: p, topic: p.cursor.Topic, next: p.cursor.Next, heard: !p.silence.quiet}
		s.silent = p.silence.lasts(r.comparison.silence, now) || forLost
		list = append(list, s)
	}
	unfetched, alarms, topics := r.partitions.unfetched(), r.group.alarms, r.knownTopics()
	r.calls.Go(func() {
		answer := topicsAnswer{alarms: alarms}
		answer.topics, answer.err = r.broker.describeTopics(r.ctx, topics...)
		if answer.err != nil {
			r.comparison.found <- findings{topics: &answer, last: true, err: answer.err, lost: forLost}
			return
		}
		r.comparison.found <- findings{topics: &answer}
		ends, endsErr := r.broker.logEnds(r.ctx, unfetched)
		r.comparison.found <- findings{ends: ends}
		found, err := r.broker.compare(list, answer.topics)
		r.comparison.found <- findings{list: found, last: true, err: errors.Join(endsErr, err), lost: forLost}
	})
}

// knownTopics are the topics that are subscribed, and those of partitions that are assigned.
func (r *run) knownTopics() []string {
	names := slices.Clone(r.sub.Topics)
	for id := range r.partitions.all {
		names = append(names, id.Topic)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// compare asks what it must to judge partitions, until one question fails.
func (b *broker) compare(list []subject, topics map[string]intake.Topic) (found []finding, err error) {
	for _, s := range list {
		f := finding{subject: s, now: topics[s.partition.delivery.Partition.Topic]}
		if s.silent && !f.otherTopic() {
			if f.low, f.high, err = b.watermarks(s.partition.delivery.Partition); err != nil {
				return found, err
			}
		}
		found = append(found, f)
	}
	return found, nil
}

// otherTopic reports whether the topic is not the one that the sink was told of.
func (f finding) otherTopic() bool { return f.now != f.topic }

// shows says what the brokers' answers show.
func (f finding) shows() verdict {
	switch {
	case f.otherTopic():
		return topicChanged
	case !f.silent:
		return inOrder
	case f.next < f.low || f.next > f.high:
		return outOfLog
	case f.next < f.high:
		return unread
	}
	return inOrder
}

// applyFindings has partitions taken over again whose topic is not the one that the sink was
// told of, or whose position does not exist in the broker's log, so that the sink halts them
// with the reason. If the client lost a position, or is silent although there is something to
// read, the partition is read again from where it is; if that does not help, the sink is told.
func (r *run) applyFindings(found findings) {
	if t := found.topics; t != nil {
		r.group.answered(*t)
		r.tellGroup()
	}
	for id, end := range found.ends {
		if r.partitions.all[id] != nil {
			r.sink.End(id, end)
		}
	}
	for _, f := range found.list {
		if p := f.partition; r.partitions.holds(p) && p.cursor.Topic == f.topic {
			r.apply(f, found.lost)
		}
	}
	if found.last && r.comparison.end(found.topics == nil, found.err, found.lost) {
		r.log.Warn("partitions could not be compared with the broker", "err", found.err)
	}
}

func (r *run) apply(f finding, lost bool) {
	p, id := f.partition, f.partition.delivery.Partition
	verdict := f.shows()
	caughtUp := f.silent && verdict == inOrder
	if verdict != topicChanged && (f.heard || caughtUp) && p.silence.over() {
		r.log.Info("the client hands over records again", "topic", id.Topic, "partition", id.Number)
		r.sink.Silent(id, time.Time{})
	}
	switch {
	case verdict == topicChanged:
		r.log.Warn("the topic has changed", "topic", id.Topic, "partition", id.Number,
			"again", f.now.ID != f.topic.ID, "partitions", f.now.Partitions, "before", f.topic.Partitions)
		p.delivery.TakeOverAgain()
	case verdict == outOfLog:
		r.log.Warn("position is not in the broker's log", "topic", id.Topic, "partition", id.Number,
			"position", f.next, "low", f.low, "high", f.high)
		p.delivery.TakeOverAgain()
	case lost:
		r.readAgain(p)
	case verdict == unread:
		r.readAgain(p)
		if p.silence.stuck(time.Now()) {
			r.log.Error("the client hands over no records although the broker has some", "topic", id.Topic, "partition", id.Number)
			r.sink.Silent(id, p.silence.behind)
		}
	}
}

// readAgain reads a partition from where it is, although the client gave it up.
func (r *run) readAgain(p *partition) {
	if p.cursor.IsRead() {
		p.cursor.BeginAgain()
		r.fetcher.seek(p)
	}
}
