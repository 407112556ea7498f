package confluent

import (
	"time"
)

// suspect is a partition to compare with the broker.
type suspect struct {
	t    *tenure
	next int64
}

// look compares partitions with the broker, in the background: those without a record
// since the last look, or all of them if the client said that it lost a position, which it
// says only once and without naming the partition, which is silent from then on.
func (r *run) look(now time.Time) {
	if r.busy.watch.Load() || r.doubt.Load() && now.Before(r.nextDoubt) {
		return
	}
	all := r.doubt.Swap(false)
	r.nextDoubt = now.Add(r.backoff)
	if !all {
		r.nextWatch = now.Add(r.watch)
	}
	var list []suspect
	for _, t := range r.parts {
		if t.state == reading && (all || t.silent && !t.paused) {
			list = append(list, suspect{t, t.next})
		}
		t.silent = true
	}
	if len(list) == 0 {
		return
	}
	r.busy.watch.Store(true)
	r.calls.Go(func() {
		defer r.busy.watch.Store(false)
		if err := r.compare(list, all); err != nil {
			r.log.Warn("partitions could not be compared with the broker", "err", err)
			if all {
				r.doubt.Store(true)
			}
		}
	})
}

// compare has every suspect whose position does not exist in the broker's log taken over
// again, so that the sink halts it with the reason. If the client lost a position, the
// others are read again from where they are.
func (r *run) compare(list []suspect, all bool) error {
	topics, err := r.topics(r.ctx, r.sub.Topics...)
	if err != nil {
		return err
	}
	for _, s := range list {
		low, high, err := r.watermarks(s.t.id)
		if err != nil {
			return err
		}
		switch id := topics[s.t.id.Topic].id; {
		case s.next < low || s.next > high || id != *s.t.topic.Load():
			r.log.Warn("position is not in the broker's log", "topic", s.t.id.Topic, "partition", s.t.id.Number,
				"position", s.next, "low", low, "high", high)
			s.t.queue.retake()
		case all:
			s.t.lost.Store(true)
		}
	}
	r.tell()
	return nil
}
