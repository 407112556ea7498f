package member_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/idem"
)

// The sink learns that the records of a partition do not arrive, and later that they arrive again.
// The end of the log shows it, long before the silence itself is examined.
func TestSilenceIsReported(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 2)
		produce(t, brokers, 100, 0, 1)
		l := newLedger()
		sink := newSink(t, l)
		stuck, flowing := idem.Partition{Topic: topicName}, idem.Partition{Topic: topicName, Number: 1}
		s := open(t, brokers, k)
		s.pace.Silence = time.Hour
		start(t, s, subscription(), sink)
		eventually(t, "200 records", func() bool { return l.count() == 200 })
		fault := cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Fetch}, Topic: topicName, Partitions: []int32{0}, Err: kerr.KafkaStorageError, Count: -1,
		})
		produce(t, brokers, 10, 0, 1)
		eventually(t, "the sink is told", func() bool { return sink.isSilent(stuck) })
		if sink.isSilent(flowing) {
			t.Error("the other partition is said to be silent")
		}
		fault.Remove()
		eventually(t, "the records come", func() bool { return l.count() == 220 })
		eventually(t, "the sink is told that they do", func() bool { return !sink.isSilent(stuck) })
		complete(t, l, 110, 0, 1)
		if n := sink.seen("Assigned"); n != 2 {
			t.Errorf("taken over %d times, want once each", n)
		}
	})
}

// What follows the last record may be nothing that is handed over: markers of transactions,
// and records of those that were aborted or are open.
func TestEndOfALogIsNotSilence(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		l := newLedger()
		sink := newSink(t, l)
		p := idem.Partition{Topic: topicName}
		start(t, open(t, brokers, k), subscription(), sink)
		produceTransaction(t, brokers, 10, true)
		produceTransaction(t, brokers, 10, false)
		eventually(t, "10 records", func() bool { return l.count() == 10 })
		asked := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Count: -1, Observe: true})
		eventually(t, "three comparisons", func() bool {
			if sink.isSilent(p) {
				t.Fatal("the end of the log is said to be silence")
			}
			return asked.Hits() >= 9 // low, high and end each
		})
		if cluster.PartitionInfos(topicName)[0].HighWatermark <= int64(l.count()) {
			t.Fatal("the log does not go on behind the last record: the test shows nothing")
		}
	})
}
