package member_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// within waits at most for as long as a person may wait to be told.
func within(t *testing.T, most time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", most, what)
		}
	}
}

// said counts the lines of a source's log that hold a text.
func said(log *testLog, text string) int { return strings.Count(log.String(), text) }

// A broker that goes away is told at once and in words, and that it is back, too. The log does
// not repeat it.
func TestBrokerThatIsGoneIsTold(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		broker, err := idemtest.StartBrokerWith(map[string]int32{topicName: 1}, idemtest.BrokerOptions{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(broker.Close)
		sink := newSink(t, newLedger())
		s := open(t, broker.Addr(), k)
		log := &testLog{}
		s.Logger = textLogger(log)
		start(t, s, subscription(), sink)
		eventually(t, "the group is joined", func() bool { return sink.knows() && sink.stands() == "<nil>" })
		broker.Stop()
		within(t, 30*time.Second, "the sink is told", func() bool {
			return strings.HasPrefix(sink.stands(), "no broker of "+broker.Addr()+" responds: ")
		})
		time.Sleep(2 * time.Second)          // several tries to connect again
		if n := len(sink.changes()); n > 5 { // two before, that all are down, and two causes, the second of which says more
			t.Errorf("told %d times: %q", n, sink.changes())
		}
		if n := said(log, "goes on trying"); n > 2 {
			t.Errorf("%d lines of one outage", n)
		}
		if err := broker.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the sink is told that it is over", func() bool { return sink.stands() == "<nil>" })
	})
}

// Brokers that were never reached are told, with the cause.
func TestBrokerThatWasNeverThereIsTold(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		sink := newSink(t, newLedger())
		start(t, open(t, "127.0.0.1:1", k), subscription(), sink)
		eventually(t, "the sink is told", func() bool {
			return sink.knows() && sink.stands() == "no broker of 127.0.0.1:1 responds: "+k.refused
		})
	})
}

// A member for which no partition is left is one; a topic that does not exist is trouble.
func TestMemberWithoutPartitionsIsOne(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		l := newLedger()
		one, other := newSink(t, l), newSink(t, l)
		start(t, open(t, brokers, k), subscription(), one)
		start(t, open(t, brokers, k), subscription(), other)
		for _, sink := range []*fakeSink{one, other} {
			if sink.knows(); len(sink.changes()) > 0 && !strings.HasPrefix(sink.changes()[0], "the group has not assigned its partitions yet; if a member died without leaving") {
				t.Errorf("told first: %q", sink.changes()[0])
			}
			eventually(t, "it is a member", func() bool { return sink.knows() && sink.stands() == "<nil>" })
		}
		eventually(t, "one has the partition", func() bool { return one.owns()+other.owns() == 1 })
		time.Sleep(time.Second)
		for _, sink := range []*fakeSink{one, other} {
			if sink.stands() != "<nil>" {
				t.Errorf("told later: %q", sink.stands())
			}
		}
	})
}

func TestTopicThatDoesNotExistIsTold(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		sink := newSink(t, newLedger())
		sub := subscription()
		sub.Topics = append(sub.Topics, "returns.v1")
		start(t, open(t, brokers, k), sub, sink)
		eventually(t, "the sink is told", func() bool { return sink.knows() && sink.stands() == "topic returns.v1 does not exist" })
		eventually(t, "the other topic is read", func() bool { return sink.owns() == 1 })
	})
}

// haltsAndHangs has a partition halt when it is taken over, and another one's delivery hang
// until free is called.
func haltsAndHangs(sink *fakeSink, halting, hanging idem.Partition) (free func()) {
	gate := make(chan struct{})
	sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
		if a.Partition == halting {
			return idem.Position{}, &idem.HaltedError{Partition: a.Partition, Reason: "test"}
		}
		return idem.Position{Epoch: -1}, nil
	}
	sink.answer = func(ctx context.Context, _ idem.Partition) (idem.TakeOver, error) {
		<-ctx.Done()
		return idem.TakeOver{}, ctx.Err()
	}
	sink.before = func(ctx context.Context, p idem.Partition, _ []idem.Message) error {
		if p == hanging {
			<-gate
		}
		return nil
	}
	return func() { close(gate) }
}

// The sink hears where a log ends of partitions that are read, and of those that stand.
func TestSinkHearsWhereLogsEnd(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 3)
		sink := newSink(t, newLedger())
		flowing, standing, stuck := idem.Partition{Topic: topicName}, idem.Partition{Topic: topicName, Number: 1}, idem.Partition{Topic: topicName, Number: 2}
		free := haltsAndHangs(sink, standing, stuck)
		defer free()
		start(t, open(t, brokers, k), subscription(), sink)
		for _, n := range []int64{1000, 2000} { // it grows
			produce(t, brokers, 1000, 0, 1, 2)
			for _, p := range []idem.Partition{flowing, standing, stuck} {
				eventually(t, "the end of the log", func() bool { return sink.end(p) == n })
			}
		}
		if sink.seen("Assigned 1") != 1 {
			t.Error("the partition does not stand: the test shows nothing")
		}
	})
}
