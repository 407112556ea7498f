package confluent

import (
	"errors"
	"fmt"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
)

// suspect is a partition to compare with the broker.
type suspect struct {
	t      *tenure
	next   int64 // the position
	heard  bool  // a record came since the last look, or is not wanted now
	silent bool  // for long enough to be compared with the watermarks
}

// compareAll compares partitions with the broker, in the background. Of all, the topic: the client
// reads on in a topic that was made again as if it were the old one, so that this is done
// often. Of those that were silent for long, the watermarks; and of all, if the client said
// that it lost a position, which it says only once and without naming the partition, which is
// silent from then on.
func (r *run) compareAll(now time.Time) {
	if r.busy.watch.Load() || r.doubt.Load() && now.Before(r.next.doubt) {
		return
	}
	all := r.doubt.Swap(false)
	r.next.doubt = now.Add(r.backoff)
	switch {
	case r.group.broker != nil:
		r.next.compare = now.Add(r.backoff)
	case !all:
		r.next.compare = now.Add(r.glance)
	}
	var list []suspect
	for _, t := range r.parts {
		if t.state != reading && t.state != waiting {
			continue
		}
		s := suspect{t: t, next: t.next, heard: !t.quiet || t.paused}
		s.silent = t.silent(now, r.watch) || all
		list = append(list, s)
	}
	unread, alarms := r.parts.unread(), r.group.alarms
	r.busy.watch.Store(true)
	r.calls.Go(func() {
		defer r.busy.watch.Store(false)
		topics, err := r.topics(r.ctx, r.sub.Topics...)
		r.group.found.Store(&finding{alarms, r.judge(r.sub.Topics, topics, err)})
		if err == nil {
			err = errors.Join(r.askEnds(unread), r.compare(list, topics, all))
			r.compared(err)
		}
		if err != nil && all {
			r.doubt.Store(true)
		}
	})
}

// compared logs that a comparison failed, once while the cause is the same.
func (r *run) compared(err error) {
	if text := fmt.Sprint(err); text != r.incomparable {
		if r.incomparable = text; err != nil {
			r.log.Warn("partitions could not be compared with the broker", "err", err)
		}
	}
}

// silent reports, once in a while, that no record of a partition came for as long.
func (t *tenure) silent(now time.Time, most time.Duration) bool {
	if !t.quiet || t.paused {
		t.quiet, t.since = true, now
		return false
	}
	if now.Sub(t.since) < most {
		return false
	}
	t.since = now
	return true
}

// compare has every suspect taken over again whose topic is not the one that the sink was
// told of, or whose position does not exist in the broker's log, so that the sink halts it
// with the reason. If the client lost a position, or is silent although there is something to
// read, the partition is read again from where it is; if that does not help, the sink is told.
func (r *shared) compare(list []suspect, topics map[string]topic, all bool) error {
	for _, s := range list {
		now, told := topics[s.t.id.Topic], *s.t.told.Load()
		if now != told {
			r.log.Warn("the topic has changed", "topic", s.t.id.Topic, "partition", s.t.id.Number,
				"again", now.id != told.id, "partitions", now.partitions, "before", told.partitions)
			s.t.again()
			continue
		}
		if s.heard {
			r.report(s.t, time.Time{})
		}
		if !s.silent {
			continue
		}
		low, high, err := r.watermarks(s.t.id)
		if err != nil {
			return err
		}
		switch {
		case s.next < low || s.next > high:
			r.log.Warn("position is not in the broker's log", "topic", s.t.id.Topic, "partition", s.t.id.Number,
				"position", s.next, "low", low, "high", high)
			s.t.again()
		case all:
			s.t.lost.Store(true)
		case s.next < high:
			s.t.lost.Store(true)
			r.report(s.t, time.Now())
		default:
			r.report(s.t, time.Time{})
		}
	}
	r.tell()
	return nil
}

// report tells the sink that a partition is silent although its log has records, when that
// was seen twice; or, with the zero time, that it is not. Only compare calls it.
func (r *shared) report(t *tenure, behind time.Time) {
	switch {
	case behind.IsZero() && t.reported:
		r.log.Info("the client hands over records again", "topic", t.id.Topic, "partition", t.id.Number)
		r.sink.Silent(t.id, behind)
		t.reported, t.behind = false, behind
	case behind.IsZero():
		t.behind = behind
	case t.behind.IsZero():
		t.behind = behind
	case !t.reported:
		t.reported = true
		r.log.Error("the client hands over no records although the broker has some", "topic", t.id.Topic, "partition", t.id.Number)
		r.sink.Silent(t.id, t.behind)
	}
}

// replaced handles a record that bears an older leader epoch than one before it, as no log
// does: the topic was made again.
func (r *run) replaced(t *tenure, m idem.Message) {
	r.log.Warn("the leader epoch went down", "topic", t.id.Topic, "partition", t.id.Number,
		"offset", m.Offset, "epoch", m.LeaderEpoch, "before", t.epoch)
	t.again()
}

// again has the partition taken over again. Any goroutine may call it.
func (t *tenure) again() {
	t.queue.retake()
	ring(t.came)
}

// ended notes that the client has read a partition to its end: what stands between the last
// record and there are markers of transactions, records of aborted ones, or gaps.
func (r *run) ended(e kafka.PartitionEOF) {
	t := r.find(kafka.TopicPartition(e))
	if t == nil || t.state != reading && t.state != waiting {
		return
	}
	t.next = max(t.next, int64(e.Offset))
	if t.state == reading {
		t.queue.reached(t.next)
	} else if t.next > t.at.Offset { // markers, that the owner is to pass if there is one
		r.arrived(t)
	}
}
