package confluent

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kgo"

	idem "github.com/idemgen/idemgen/runtime"
)

func TestFencedPartitionIsTakenOverAgain(t *testing.T) {
	t.Parallel()
	_, brokers := startCluster(t, 2)
	produce(t, brokers, 2000, 0, 1)
	l := newLedger()
	sink := newSink(t, l)
	fenced := idem.Partition{Topic: topicName, Number: 0}
	var at atomic.Int64 // when it was fenced
	var back atomic.Int64
	sink.before = func(_ context.Context, p idem.Partition, records []idem.Message) error {
		if p != fenced || records[0].Offset < 500 || at.Load() != 0 {
			return nil
		}
		at.Store(time.Now().UnixNano())
		l.mu.Lock()
		l.next[p] = 1500 // the other owner came so far
		l.mu.Unlock()
		return &idem.FencedError{Partition: p, Reason: "another owner appended"}
	}
	sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
		if at.Load() != 0 {
			back.Store(time.Now().UnixNano())
		}
		return idem.Position{Offset: l.position(a.Partition), Epoch: -1}, nil
	}
	start(t, source(t, brokers), subscription(), sink)
	eventually(t, "both partitions to their end", func() bool {
		return l.position(fenced) == 2000 && l.position(idem.Partition{Topic: topicName, Number: 1}) == 2000
	})
	complete(t, l, 2000, 1)
	if waited := time.Duration(back.Load() - at.Load()); waited < 300*time.Millisecond {
		t.Errorf("the partition was taken over %v after it was fenced, want 300ms at least", waited)
	}
	if n := sink.seen("Assigned 0"); n != 2 {
		t.Errorf("taken over %d times, want twice", n)
	}
	for _, o := range l.offsets[fenced] {
		if o >= 500 && o < 1500 {
			t.Fatalf("offset %d was delivered, which the other owner had passed", o)
		}
	}
}

func TestHaltedPartitionStaysUnread(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"Assigned", "Deliver"} {
		t.Run(in, func(t *testing.T) {
			_, brokers := startCluster(t, 3)
			produce(t, brokers, 1000, 0, 1, 2)
			l := newLedger()
			sink := newSink(t, l)
			var tries atomic.Int64
			halt := func(p idem.Partition) error {
				if p.Number != 1 {
					return nil
				}
				tries.Add(1)
				return &idem.HaltedError{Partition: p, Offset: -1, Reason: "a test"}
			}
			if in == "Deliver" {
				sink.before = func(_ context.Context, p idem.Partition, _ []idem.Message) error { return halt(p) }
			} else {
				sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
					return idem.Position{Epoch: -1}, halt(a.Partition)
				}
			}
			start(t, source(t, brokers), subscription(), sink)
			eventually(t, "the other partitions", func() bool { return l.count() >= 2000 })
			time.Sleep(500 * time.Millisecond) // longer than standby
			complete(t, l, 1000, 0, 2)
			if n := tries.Load(); n != 1 {
				t.Errorf("the halted partition was tried %d times, want once", n)
			}
		})
	}
}

// The client reports a position that is gone once, without its partition, and is silent then.
func TestPositionThatIsGoneIsAskedAbout(t *testing.T) {
	t.Parallel()
	_, brokers := startCluster(t, 2)
	produceLarge(t, brokers, 3000, 0)
	produce(t, brokers, 3000, 1)
	l := newLedger()
	sink := newSink(t, l)
	gate := make(chan struct{})
	sink.before = func(_ context.Context, p idem.Partition, _ []idem.Message) error {
		if p.Number == 0 {
			<-gate
		}
		return nil
	}
	sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
		at := l.position(a.Partition)
		if at < a.Low {
			return idem.Position{}, &idem.HaltedError{Partition: a.Partition, Offset: at, Reason: "retention"}
		}
		return idem.Position{Offset: at, Epoch: -1}, nil
	}
	s := source(t, brokers)
	s.pace.watch = time.Hour // only the report counts
	start(t, s, subscription(), sink)
	eventually(t, "the other partition", func() bool { return l.position(idem.Partition{Topic: topicName, Number: 1}) == 3000 })
	deleteRecords(t, brokers, 0, 2900)
	close(gate)
	eventually(t, "the partition is asked about again", func() bool { return sink.seen("Assigned 0") == 2 })
	produce(t, brokers, 100, 1)
	eventually(t, "the other partition goes on", func() bool {
		return l.position(idem.Partition{Topic: topicName, Number: 1}) == 3100
	})
	complete(t, l, 3100, 1)
}

// An operator skipped what retention took: the partition must flow from the new position,
// although the client had given it up.
func TestPartitionFlowsAfterALostPosition(t *testing.T) {
	t.Parallel()
	_, brokers := startCluster(t, 1)
	produceLarge(t, brokers, 3000, 0)
	l := newLedger()
	sink := newSink(t, l)
	p := idem.Partition{Topic: topicName}
	gate := make(chan struct{})
	sink.before = func(_ context.Context, _ idem.Partition, _ []idem.Message) error { <-gate; return nil }
	sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
		return idem.Position{Offset: max(l.position(p), a.Low), Epoch: -1}, nil
	}
	start(t, source(t, brokers), subscription(), sink)
	eventually(t, "the first take-over", func() bool { return sink.owns() == 1 })
	deleteRecords(t, brokers, 0, 2900)
	close(gate)
	eventually(t, "the end", func() bool { return l.position(p) == 3000 })
}

// produceLarge sends n records that the client cannot hold at once.
func produceLarge(t *testing.T, brokers string, n int, partition int32) {
	t.Helper()
	var records []*kgo.Record
	for range n {
		records = append(records, &kgo.Record{Topic: topicName, Partition: partition, Value: make([]byte, 4096)})
	}
	produceRecords(t, brokers, records...)
}

func deleteRecords(t *testing.T, brokers string, partition int32, before int64) {
	t.Helper()
	a, err := kafka.NewAdminClient(&kafka.ConfigMap{"bootstrap.servers": brokers, "log_level": 0})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	topic := topicName
	_, err = a.DeleteRecords(t.Context(), []kafka.TopicPartition{{Topic: &topic, Partition: partition, Offset: kafka.Offset(before)}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecreatedTopicIsNoticed(t *testing.T) {
	t.Parallel()
	_, brokers := startCluster(t, 1)
	produce(t, brokers, 10, 0)
	l := newLedger()
	sink := newSink(t, l)
	start(t, source(t, brokers), subscription(), sink)
	eventually(t, "10 records", func() bool { return l.count() == 10 })
	recreate(t, brokers)
	produce(t, brokers, 10, 0) // the new log is as long as the old one was
	eventually(t, "the sink is told another topic id", func() bool {
		sink.mu.Lock()
		defer sink.mu.Unlock()
		return sink.answers[len(sink.answers)-1].TopicID != sink.answers[0].TopicID
	})
}

func recreate(t *testing.T, brokers string) {
	t.Helper()
	a, err := kafka.NewAdminClient(&kafka.ConfigMap{"bootstrap.servers": brokers, "log_level": 0})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.DeleteTopics(t.Context(), []string{topicName}); err != nil {
		t.Fatal(err)
	}
	made, err := a.CreateTopics(t.Context(), []kafka.TopicSpecification{{Topic: topicName, NumPartitions: 1, ReplicationFactor: 1}})
	if err != nil || made[0].Error.Code() != kafka.ErrNoError {
		t.Fatal(made, err)
	}
}
