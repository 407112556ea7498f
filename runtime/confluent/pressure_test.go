package confluent

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kgo"

	idem "github.com/idemgen/idemgen/runtime"
)

// A partition that stands does not keep others from their records, whose log goes on when
// its own queue is full: it is paused.
func TestFullQueueStarvesNoOther(t *testing.T) {
	t.Parallel()
	_, brokers := startCluster(t, 2)
	produce(t, brokers, 60000, 0)
	l := newLedger()
	sink := newSink(t, l)
	begun, gate := make(chan struct{}, 1), make(chan struct{})
	sink.before = func(ctx context.Context, p idem.Partition, _ []idem.Message) error {
		if p.Number == 0 {
			ring(begun)
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		return nil
	}
	start(t, source(t, brokers), subscription(), sink)
	<-begun
	time.Sleep(moments * moment / 2) // all that the client holds is of the partition that stands
	produce(t, brokers, 5000, 1)
	eventually(t, "the other partition's records", func() bool {
		return l.position(idem.Partition{Topic: topicName, Number: 1}) == 5000
	})
	close(gate)
	eventually(t, "65000 records", func() bool { return l.count() >= 65000 })
	complete(t, l, 60000, 0)
	complete(t, l, 5000, 1)
}

// pressed is a partition whose queue holds what fills it so often, beside another one whose owner
// waits for records, of which its log has some or none.
func pressed(times int, more bool) (*run, *tenure) {
	r := &run{parts: tenures{}}
	for number, records := range []int{10 * depth * times, 0} {
		id := idem.Partition{Topic: topicName, Number: int32(number)}
		t := &tenure{id: id, polled: polled{state: reading, next: int64(records)}, queue: testQueue(10, 1<<30, time.Hour)}
		r.parts[id] = t
		fill(t.queue, records, large)
	}
	other := r.parts[idem.Partition{Topic: topicName, Number: 1}]
	_, _, _, _ = other.queue.first()
	if more {
		other.next = 1
	} else {
		other.queue.reached(0)
	}
	return r, r.parts[idem.Partition{Topic: topicName}]
}

// To pause a partition makes the client fetch again what it holds. Under load that would be
// most of its work, and deliveries slower still.
func TestFullQueueIsWaitedForWhileAllHaveWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, full := pressed(1, false)
		begun := time.Now()
		for range moments - 1 {
			if r.press(full); full.queue.holds() {
				t.Fatal("its partition was paused")
			}
		}
		if waited := time.Since(begun); waited != (moments-1)*moment {
			t.Errorf("waited %v, want a moment each time", waited)
		}
	})
}

// What a hungry partition waits for comes behind the records of the one whose queue is full.
func TestFullQueueTakesMoreForOneThatIsHungry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, full := pressed(1, true)
		begun := time.Now()
		for range 2 * moments {
			if r.press(full); full.queue.holds() {
				t.Fatal("its partition was paused")
			}
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("polling waited %v", waited)
		}
	})
}

func TestCrowdedQueueIsPausedForOneThatIsHungry(t *testing.T) {
	t.Parallel()
	r, full := pressed(2, true)
	if r.press(full); !full.queue.holds() {
		t.Error("its partition was not paused")
	}
}

func TestCrowdedQueueIsWaitedForWhileAllHaveWork(t *testing.T) {
	t.Parallel()
	r, full := pressed(2, false)
	if r.press(full); full.queue.holds() {
		t.Error("its partition was paused")
	}
}

// What a queue holds is bounded, whatever becomes of the others.
func TestQueueThatStaysFullPausesItsPartition(t *testing.T) {
	t.Parallel()
	r, full := pressed(1, false)
	for range moments {
		r.press(full)
	}
	if !full.queue.holds() {
		t.Error("its partition was not paused")
	}
}

// A partition at the end of its log waits for records, too, and says so again and again. That
// makes room for nothing.
func TestQueueThatStaysFullPausesItsPartitionWhileOthersAreIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, full := pressed(1, false)
		r.starving = make(chan struct{}, 1)
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			idle := time.NewTicker(moment / 2)
			defer idle.Stop()
			for {
				select {
				case <-idle.C:
					ring(r.starving)
				case <-stop:
					return
				}
			}
		}()
		begun := time.Now()
		for range moments {
			r.press(full)
		}
		if waited := time.Since(begun); !full.queue.holds() || waited != moments*moment {
			t.Errorf("after %d looks and %v its partition was paused: %v", moments, waited, full.queue.holds())
		}
	})
}

// However many queues are full, polling goes on after a moment: nothing else that the client has
// to tell, such as a rebalance, waits for longer. And none is waited for in vain for ever. The
// time is that of a bubble, in which only these goroutines live.
func TestFullQueuesHoldPollingUpByAMomentAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &run{parts: tenures{}}
		topic := topicName
		for number := range int32(4) {
			id := idem.Partition{Topic: topic, Number: number}
			r.parts[id] = &tenure{id: id, polled: polled{state: reading, next: 10 * depth}, queue: testQueue(10, 1<<30, time.Hour)}
			fill(r.parts[id].queue, 10*depth, large)
		}
		begun, polls := time.Now(), 0
		for ; slices.ContainsFunc(slices.Collect(maps.Values(r.parts)), func(t *tenure) bool { return !t.queue.holds() }); polls++ {
			id := idem.Partition{Topic: topic, Number: int32(polls % len(r.parts))}
			at := kafka.TopicPartition{Topic: &topic, Partition: id.Number, Offset: kafka.Offset(r.parts[id].next)}
			before := time.Now()
			r.accept(&kafka.Message{TopicPartition: at, Value: make([]byte, large)})
			if held := time.Since(before); held > moment {
				t.Fatalf("a record held polling up by %v, want %v at most", held, moment)
			}
		}
		if all := time.Since(begun); polls != moments*len(r.parts) || all != time.Duration(polls)*moment {
			t.Errorf("all were paused after %d polls and %v, want %d polls of a moment", polls, all, moments*len(r.parts))
		}
	})
}

// slowly is a sink whose deliveries take longer than polling waits for a queue, so that the
// queues become full.
func slowly(t *testing.T, l *ledger) *fakeSink {
	sink := newSink(t, l)
	sink.before = func(ctx context.Context, _ idem.Partition, _ []idem.Message) error {
		if !sleep(ctx, 3*moment) {
			return ctx.Err()
		}
		return nil
	}
	return sink
}

// delegated is closed when the client has a revoke for its application, as it says in its log.
type delegated struct {
	slog.Handler
	revoke chan struct{}
	once   sync.Once
}

func (d *delegated) Enabled(context.Context, slog.Level) bool { return true }

func (d *delegated) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if text := a.Value.String(); a.Key == "text" && strings.Contains(text, "delegating incremental revoke") {
			d.once.Do(func() { close(d.revoke) })
		}
		return true
	})
	if d.Handler.Enabled(ctx, r.Level) {
		return d.Handler.Handle(ctx, r)
	}
	return nil
}

// A revoke does not wait until the records are delivered that the client fetched before, or
// that stand in the queues, of which two are on their way and may end, and two more begin.
func TestRevokeIsAnsweredWhileQueuesAreFull(t *testing.T) {
	onBothProtocols(t, revokeIsAnsweredWhileQueuesAreFull)
}

func revokeIsAnsweredWhileQueuesAreFull(t *testing.T, protocol string) {
	_, brokers := startCluster(t, 2)
	const events, each = 100, 20000
	var records []*kgo.Record
	for i := range 2 * each {
		records = append(records, &kgo.Record{Topic: topicName, Partition: int32(i % 2), Value: make([]byte, 300)})
	}
	produceRecords(t, brokers, records...)
	l := newLedger()
	first := slowly(t, l)
	s := sourceBy(t, brokers, protocol)
	s.Config["debug"] = "cgrp"
	told := &delegated{Handler: s.Logger.Handler(), revoke: make(chan struct{})}
	s.Logger = slog.New(told)
	start(t, s, subscription(), first)
	eventually(t, "deliveries", func() bool { return l.count() > 10*events })
	start(t, sourceBy(t, brokers, protocol), subscription(), slowly(t, l))
	happens(t, "the client has a revoke", told.revoke)
	from := l.count()
	eventually(t, "a revoke", func() bool { return first.seen("Revoked") == 1 })
	if all := l.count(); all-from > 4*events || all == 2*each {
		t.Errorf("%d records were delivered before it was answered, and %d in all", all-from, all)
	}
}
