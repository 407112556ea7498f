package member_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/idem"
)

// haltsOnAnotherTopic makes a sink halt partitions whose topic is not the one it met first.
func haltsOnAnotherTopic(sink *fakeSink) {
	sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
		sink.mu.Lock()
		first := sink.answers[0].TopicID
		sink.mu.Unlock()
		if a.TopicID != first {
			return idem.Position{}, &idem.HaltedError{Partition: a.Partition, Offset: -1, Reason: "the topic was made again"}
		}
		return idem.Position{Offset: sink.ledger.position(a.Partition), Epoch: -1}, nil
	}
	sink.answer = untilTheEnd
}

// untilTheEnd is a Standby that nobody ends.
func untilTheEnd(ctx context.Context, _ idem.Partition) (idem.TakeOver, error) {
	<-ctx.Done()
	return idem.TakeOver{}, ctx.Err()
}

// told tells whether the sink was told something of a partition.
func (s *fakeSink) told(cond func(idem.Assignment) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.answers {
		if cond(a) {
			return true
		}
	}
	return false
}

// A partition count is part of what the sink checks: all partitions of the topic are taken
// over again, so that it can halt them, and the group assigns the new ones.
func TestAddedPartitionsAreNoticed(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 2)
		produce(t, brokers, 100, 0, 1)
		l := newLedger()
		sink := newSink(t, l)
		sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
			if a.Partition.Number == 1 && a.Partitions == 3 {
				return idem.Position{}, &idem.HaltedError{Partition: a.Partition, Offset: -1, Reason: "partitions were added"}
			}
			return idem.Position{Offset: l.position(a.Partition), Epoch: -1}, nil
		}
		sink.answer = untilTheEnd
		s := open(t, brokers, k)
		s.metadata = 200 * time.Millisecond
		start(t, s, subscription(), sink)
		eventually(t, "200 records", func() bool { return l.count() == 200 })
		addPartitions(t, brokers, 3)
		for p := range int32(3) {
			eventually(t, fmt.Sprintf("the sink is told of partition %d that there are three", p), func() bool {
				return sink.told(func(a idem.Assignment) bool { return a.Partition.Number == p && a.Partitions == 3 })
			})
		}
		eventually(t, "one halts", func() bool { return sink.seen("Standby 1") == 1 })
		produce(t, brokers, 50, 0, 1)
		produce(t, brokers, 50, 2)
		eventually(t, "the two others", func() bool { return l.count() == 300 })
		complete(t, l, 150, 0)
		complete(t, l, 100, 1)
		complete(t, l, 50, 2)
	})
}

func addPartitions(t *testing.T, brokers string, n int32) {
	t.Helper()
	request := kmsg.NewPtrCreatePartitionsRequest()
	topic := kmsg.NewCreatePartitionsRequestTopic()
	topic.Topic, topic.Count = topicName, n
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(t.Context(), asking(t, brokers))
	if err != nil || response.Topics[0].ErrorCode != 0 {
		t.Fatal(response, err)
	}
}

// The new log may be as long as the old one, or longer: the client reads on as if nothing had
// happened, so that only the topic's id tells.
func TestTopicMadeAgainIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int // records of the new topic; the old one had 10
	}{{"empty", 0}, {"shorter", 5}, {"as long", 10}, {"longer", 30}} {
		t.Run(c.name, func(t *testing.T) {
			withBoth(t, func(t *testing.T, k kind) {
				cluster, brokers := startCluster(t, 1)
				produce(t, brokers, 10, 0)
				l := newLedger()
				sink := newSink(t, l)
				haltsOnAnotherTopic(sink)
				start(t, open(t, brokers, k), subscription(), sink)
				eventually(t, "10 records", func() bool { return l.count() == 10 })
				makeAgain(t, cluster, 1)
				produce(t, brokers, c.n, 0)
				eventually(t, "the partition halts", func() bool { return sink.seen("Standby") == 1 })
				before := l.count()
				produce(t, brokers, 10, 0)
				time.Sleep(200 * time.Millisecond)
				if n := l.count(); n != before {
					t.Errorf("%d records of another topic were delivered after the partition halted", n-before)
				}
			})
		})
	}
}

// A person may decide that the new topic is to be read.
func TestTopicMadeAgainIsReadIfTheSinkSaysSo(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 2)
		produce(t, brokers, 10, 0, 1)
		l := newLedger()
		sink := newSink(t, l)
		var mu sync.Mutex
		ids := map[idem.Partition]idem.UUID{}
		sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
			mu.Lock()
			defer mu.Unlock()
			if id, met := ids[a.Partition]; met && id != a.TopicID {
				l.mu.Lock()
				l.next[a.Partition] = 0
				l.mu.Unlock()
			}
			ids[a.Partition] = a.TopicID
			return idem.Position{Offset: l.position(a.Partition), Epoch: -1}, nil
		}
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "20 records", func() bool { return l.count() == 20 })
		makeAgain(t, cluster, 2)
		produce(t, brokers, 30, 0, 1)
		for p := range int32(2) {
			eventually(t, "all of the new topic", func() bool { return l.position(idem.Partition{Topic: topicName, Number: p}) == 30 })
		}
	})
}

func makeAgain(t *testing.T, cluster *kfake.Cluster, partitions int32) {
	t.Helper()
	if err := cluster.DeleteTopic(topicName); err != nil {
		t.Fatal(err)
	}
	if err := cluster.CreateTopic(topicName, partitions, nil); err != nil {
		t.Fatal(err)
	}
}

// A topic that is gone is waited for.
func TestDeletedTopicIsWaitedFor(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		produce(t, brokers, 10, 0)
		l := newLedger()
		sink := newSink(t, l)
		haltsOnAnotherTopic(sink)
		s := open(t, brokers, k)
		log := &testLog{}
		s.Logger = textLogger(log)
		start(t, s, subscription(), sink)
		eventually(t, "10 records", func() bool { return l.count() == 10 })
		if err := cluster.DeleteTopic(topicName); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a line that says so", func() bool { return strings.Contains(log.String(), "does not exist") })
		if err := cluster.CreateTopic(topicName, 1, nil); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the partition halts", func() bool { return sink.seen("Standby 0") == 1 })
	})
}

// The old topic's leader had changed, so that its epoch is above that of the new one: the
// client refuses to fetch and says nothing of it.
func TestTopicMadeAgainWithALowerEpochIsNoticed(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1, kfake.NumBrokers(2))
		for i := range 4 { // the leader's epoch goes up
			if err := cluster.MoveTopicPartition(topicName, 0, int32(i%2)); err != nil {
				t.Fatal(err)
			}
		}
		produce(t, brokers, 10, 0)
		l := newLedger()
		sink := newSink(t, l)
		haltsOnAnotherTopic(sink)
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "10 records", func() bool { return l.count() == 10 })
		makeAgain(t, cluster, 1)
		produce(t, brokers, 30, 0)
		eventually(t, "the partition halts", func() bool { return sink.seen("Standby 0") == 1 })
		complete(t, l, 10, 0)
	})
}

// The topic was made again while nobody read it: the sink is told the new id before anything
// is read.
func TestTopicMadeAgainBeforeTheStart(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		produce(t, brokers, 10, 0)
		l := newLedger()
		sink := newSink(t, l)
		haltsOnAnotherTopic(sink)
		stop := start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "10 records", func() bool { return l.count() == 10 })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		makeAgain(t, cluster, 1)
		produce(t, brokers, 30, 0)
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "the partition halts", func() bool { return sink.seen("Standby 0") == 1 })
		complete(t, l, 10, 0)
	})
}
