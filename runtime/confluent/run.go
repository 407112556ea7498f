package confluent

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
)

// shared is what every goroutine of a run may use.
type shared struct {
	pace
	broker
	ctx      context.Context // of Run
	log      *slog.Logger
	sub      idem.Subscription
	sink     idem.Sink
	news     atomic.Bool   // a tenure has something for the polling goroutine
	bell     chan struct{} // the same, for the callback, which waits
	starving chan struct{} // a partition waits for records
}

// run is one Source.Run. Its fields belong to the polling goroutine, which also runs the
// rebalance callback; the exceptions are named.
type run struct {
	shared
	lines chan kafka.LogEvent // of the client's own log

	parts   tenures
	before  map[idem.Partition]<-chan struct{} // closed when the last tenure of a partition is over
	last    *tenure                            // of the record before
	closing bool
	failure error // raised in the rebalance callback, which cannot return it
	told    complaints
	group   group
	next    schedule

	incomparable string      // why the last comparison failed; of the goroutine that compares
	doubt        atomic.Bool // any goroutine: a partition stands silent, and the client did not say which
	busy         struct{ hint, watch atomic.Bool }
	calls        sync.WaitGroup // goroutines that use the client
}

// schedule is when things are due.
type schedule struct{ hint, gauge, compare, doubt time.Time }

func newRun(ctx context.Context, s *Source, sub idem.Subscription, sink idem.Sink, client *kafka.Consumer) *run {
	paces := s.paces()
	r := &run{
		shared: shared{
			pace: paces, broker: broker{addresses: s.Brokers, client: client, limit: paces.answer},
			ctx: ctx, log: s.Logger, sub: sub, sink: sink, bell: make(chan struct{}, 1), starving: make(chan struct{}, 1),
		},
		parts: tenures{}, before: map[idem.Partition]<-chan struct{}{}, told: complaints{}, group: group{sink: sink},
	}
	if r.log == nil {
		r.log = slog.Default()
	}
	now := time.Now()
	r.next.hint, r.next.compare = now.Add(r.hint), now.Add(r.glance)
	return r
}

// poll joins the group and polls until ctx ends or the client fails for good.
func (r *run) poll() error {
	var err error
	if r.admin, err = kafka.NewAdminClientFromConsumer(r.client); err != nil {
		return err
	}
	callback := func(_ *kafka.Consumer, e kafka.Event) error { r.rebalance(e); return nil }
	if err := r.client.SubscribeTopics(r.sub.Topics, callback); err != nil {
		return err
	}
	r.group.say()
	r.calls.Go(func() { r.checkRetention(r.ctx) })
	for wait := 0; r.ctx.Err() == nil && r.failure == nil; {
		if r.news.Load() && r.news.Swap(false) {
			r.serve(false)
		}
		r.tick(time.Now())
		switch e := r.client.Poll(wait).(type) {
		case nil:
			wait = r.parts.patience()
		case *kafka.Message:
			r.accept(e)
		case kafka.PartitionEOF:
			r.ended(e)
		case *kafka.Stats:
			r.group.counted(e)
		case kafka.Error:
			r.complain(e)
		case kafka.OAuthBearerTokenRefresh:
			r.complain(kafka.NewError(kafka.ErrAuthentication,
				"sasl.oauthbearer.method=default needs the application's help: use oidc", false))
		}
	}
	return r.failure
}

// accept puts a record into its partition's queue.
func (r *run) accept(m *kafka.Message) {
	if err := m.TopicPartition.Error; err != nil {
		if e, ok := err.(kafka.Error); ok {
			r.complain(e)
		}
		return
	}
	t := r.find(m.TopicPartition)
	if t == nil || int64(m.TopicPartition.Offset) < t.next {
		return // given up, or read before
	}
	switch t.state {
	case waiting:
		r.arrived(t)
		return
	case taking, standing:
		return // to be read again
	}
	message, size := record(t.id, m)
	if e := message.LeaderEpoch; e >= 0 && e < t.epoch {
		r.replaced(t, message)
		return
	}
	accepted, full := t.queue.put(message, size)
	if !accepted {
		return // the partition is about to be taken over, which sets the position anew
	}
	t.next, t.epoch, t.quiet = message.Offset+1, max(t.epoch, message.LeaderEpoch), false
	if !full {
		t.pressed = 0
	} else if !t.paused {
		r.press(t)
	}
}

func (r *run) find(tp kafka.TopicPartition) *tenure {
	if t := r.last; t != nil && t.id.Number == tp.Partition && t.id.Topic == *tp.Topic {
		return t
	}
	t := r.parts[partitionOf(tp)]
	r.last = t
	return t
}

func partitionOf(tp kafka.TopicPartition) idem.Partition {
	return idem.Partition{Topic: *tp.Topic, Number: tp.Partition}
}

// serve does what tenures asked for. It runs between two polls, or in the callback, which
// must assign even if there is nothing to assign.
func (r *run) serve(must bool) {
	var placed []*tenure
	for _, t := range r.parts {
		select {
		case n := <-t.notes:
			t.state = n.state
			if n.state == reading || n.state == waiting {
				t.at, t.round = n.at, n.round
				placed = append(placed, t)
				continue
			}
			r.pause(t)
		default:
		}
		switch {
		case t.state != reading && t.state != waiting:
		case t.lost.Swap(false):
			t.at = idem.Position{Offset: t.next, Epoch: -1}
			r.seek(t)
		case t.paused && !t.queue.holds():
			r.resume(t)
		}
	}
	if must || len(placed) > 0 {
		r.place(placed, must)
	}
}

// place reads partitions from where the sink said: explicit offset and leader epoch,
// intake, and at last an explicit Resume, because the client remembers a pause from an
// earlier tenure.
func (r *run) place(list []*tenure, must bool) {
	var fresh []kafka.TopicPartition
	for _, t := range list {
		if !t.assigned {
			t.assigned = true
			fresh = append(fresh, t.position())
		} else {
			r.seek(t)
		}
	}
	if must || len(fresh) > 0 {
		r.check(r.client.IncrementalAssign(fresh))
	}
	for _, t := range list {
		t.next, t.epoch, t.quiet = t.at.Offset, -1, false
		if t.state == reading {
			t.queue.start(t.round)
		}
		r.resume(t)
	}
}

// seek moves a partition that is assigned. The client refuses to seek in a partition that
// it stopped reading after an error; that one is assigned anew.
func (r *run) seek(t *tenure) {
	at := []kafka.TopicPartition{t.position()}
	moved, err := r.client.SeekPartitions(at)
	if err == nil && moved[0].Error == nil {
		return
	}
	r.check(r.client.IncrementalUnassign(at))
	r.check(r.client.IncrementalAssign(at))
}

func (r *run) pause(t *tenure) {
	if t.assigned && !t.paused {
		t.paused = true
		r.check(r.client.Pause([]kafka.TopicPartition{t.position()}))
	}
}

func (r *run) resume(t *tenure) {
	t.paused = false
	r.check(r.client.Resume([]kafka.TopicPartition{t.position()}))
}

// check keeps the first error after which the assignment is not known any more. It ends
// the run: another one starts from the ledger.
func (r *run) check(err error) {
	if err != nil && r.failure == nil {
		r.failure = err
	}
}

// tell has the polling goroutine serve the tenures.
func (r *shared) tell() {
	r.news.Store(true)
	ring(r.bell)
}

// tick does what is due by the clock.
func (r *run) tick(now time.Time) {
	if now.After(r.next.hint) {
		r.next.hint = now.Add(r.hint)
		r.sendHint()
	}
	if now.After(r.next.gauge) {
		r.next.gauge = now.Add(gauge)
		r.heardEnds()
	}
	r.group.learn()
	if now.After(r.next.compare) || r.doubt.Load() {
		r.compareAll(now)
	}
}
