package member_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Records that were polled and not begun are left to the next owner.
func TestShutdownBetweenPollAndAppend(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 2)
		produce(t, brokers, 1000, 0, 1)
		l := newLedger()
		sink := newSink(t, l)
		begun := make(chan struct{}, 100)
		sink.before = func(ctx context.Context, _ idem.Partition, _ []idem.Message) error {
			begun <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}
		s := open(t, brokers, k)
		stop := start(t, s, subscription(), sink)
		<-begun
		<-begun
		time.Sleep(100 * time.Millisecond) // the queues fill
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if n := l.count(); n != 0 {
			t.Fatalf("%d records were applied although every batch was cancelled", n)
		}
		if c := committed(t, brokers, 0); c > 0 {
			t.Errorf("the hint is %d, want none above 0", c)
		}
		start(t, open(t, brokers, k), subscription(), newSink(t, l))
		eventually(t, "2000 records", func() bool { return l.count() >= 2000 })
		complete(t, l, 1000, 0, 1)
	})
}

// A sink that never ends, or a client that does not close, does not keep the process.
func TestShutdownHasAWatchdog(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		produce(t, brokers, 10, 0)
		sink := newSink(t, newLedger())
		begun, release := make(chan struct{}, 1), make(chan struct{})
		t.Cleanup(func() { close(release) })
		sink.before = func(context.Context, idem.Partition, []idem.Message) error {
			begun <- struct{}{}
			<-release
			return context.Canceled
		}
		s := open(t, brokers, k)
		s.pace.Request, s.pace.Close = 200*time.Millisecond, 200*time.Millisecond
		stop := start(t, s, subscription(), sink)
		<-begun
		if err := stop(); err != nil { // which fails after 20 s
			t.Error(err)
		}
	})
}

// A member that comes back to a partition takes it over again: what another member did
// meanwhile is never guessed.
func TestEveryAssignmentIsATakeOver(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 2)
		l := newLedger()
		first := newSink(t, l)
		start(t, open(t, brokers, k), subscription(), first)
		eventually(t, "the first member owns both", func() bool { return first.owns() == 2 })
		for round := range 3 {
			produce(t, brokers, 100, 0, 1)
			eventually(t, "the first member's records", func() bool { return l.count() == round*400+200 })
			second := newSink(t, l)
			stop := start(t, open(t, brokers, k), subscription(), second)
			eventually(t, "one each", func() bool { return first.owns() == 1 && second.owns() == 1 })
			produce(t, brokers, 100, 0, 1)
			eventually(t, "both members' records", func() bool { return l.count() == round*400+400 })
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the first member owns both again", func() bool { return first.owns() == 2 })
		}
		complete(t, l, 600, 0, 1)
		if n := first.seen("Assigned"); n != 5 {
			t.Errorf("the first member took partitions over %d times, want 2 and 1 per round", n)
		}
	})
}
