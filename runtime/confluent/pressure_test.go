package confluent

import (
	"context"
	"testing"
	"time"

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

// pressed is a partition whose queue is full, beside another one with n records.
func pressed(n int) (*run, *tenure) {
	r := &run{parts: map[idem.Partition]*tenure{}}
	for number, records := range []int{10 * depth, n} {
		id := idem.Partition{Topic: topicName, Number: int32(number)}
		t := &tenure{id: id, state: reading, queue: testQueue(10, 1<<30, time.Hour), next: int64(records)}
		r.parts[id] = t
		fill(t.queue, records, large)
	}
	return r, r.parts[idem.Partition{Topic: topicName}]
}

// To pause a partition makes the client fetch again what it holds. Under load that would be
// most of its work, and deliveries slower still.
func TestFullQueueIsWaitedForWhileAllHaveWork(t *testing.T) {
	t.Parallel()
	r, full := pressed(1)
	for range moments - 1 {
		if r.press(full); full.queue.holds() {
			t.Fatal("its partition was paused")
		}
	}
}

func TestFullQueueIsPausedForOneThatIsHungry(t *testing.T) {
	t.Parallel()
	r, full := pressed(0)
	if r.parts[idem.Partition{Topic: topicName, Number: 1}].next = 1; !r.hungry() {
		t.Fatal("nobody is hungry")
	}
	if r.press(full); !full.queue.holds() {
		t.Error("its partition was not paused")
	}
}

// What a queue holds is bounded, whatever becomes of the others.
func TestQueueThatStaysFullPausesItsPartition(t *testing.T) {
	t.Parallel()
	r, full := pressed(1)
	for range moments {
		r.press(full)
	}
	if !full.queue.holds() {
		t.Error("its partition was not paused")
	}
}
