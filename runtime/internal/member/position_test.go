package member_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/idem"
)

// The client reports a position that is gone once, without its partition, and is silent then.
func TestPositionThatIsGoneIsAskedAbout(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
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
		s := open(t, brokers, k)
		s.pace.Silence, s.pace.Compare = time.Hour, time.Hour // only the report counts
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
	})
}

// An operator skipped what retention took: the partition must flow from the new position,
// although the client had given it up.
func TestPartitionFlowsAfterALostPosition(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
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
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "the first take-over", func() bool { return sink.owns() == 1 })
		deleteRecords(t, brokers, 0, 2900)
		close(gate)
		eventually(t, "the end", func() bool { return l.position(p) == 3000 })
	})
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
	request := kmsg.NewPtrDeleteRecordsRequest()
	topic, p := kmsg.NewDeleteRecordsRequestTopic(), kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = partition, before
	topic.Topic, topic.Partitions = topicName, append(topic.Partitions, p)
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(t.Context(), asking(t, brokers))
	if err != nil || response.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(response, err)
	}
}
