package member_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
)

// produceTransaction sends n records to partition 0 in one transaction, which ends in a
// commit or not.
func produceTransaction(t testing.TB, brokers string, n int, commit bool) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID("test"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r := &kgo.Record{Topic: topicName, Value: []byte(strconv.Itoa(i))}
		if err := c.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.EndTransaction(t.Context(), kgo.TransactionEndTry(commit)); err != nil {
		t.Fatal(err)
	}
}

// Markers of transactions, records of aborted ones and compaction leave gaps between offsets.
func TestGapsAreNormal(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		var want []int64
		next := int64(0)
		for i := range 6 {
			produceTransaction(t, brokers, 10, i%3 != 1)
			if i%3 != 1 {
				for o := next; o < next+10; o++ {
					want = append(want, o)
				}
			}
			next += 11 // with the marker
		}
		produceTransaction(t, brokers, 5, false)
		l := newLedger()
		sink := newSink(t, l)
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "40 records", func() bool { return l.count() >= len(want) })
		produce(t, brokers, 1, 0)
		want = append(want, cluster.PartitionInfos(topicName)[0].HighWatermark-1)
		eventually(t, "one more", func() bool { return l.count() >= len(want) })
		delivered(t, l, idem.Partition{Topic: topicName}, want)
	})
}

func TestCompactedTopic(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		if err := cluster.DeleteTopic(topicName); err != nil {
			t.Fatal(err)
		}
		if err := cluster.CreateTopic(topicName, 1, map[string]string{"cleanup.policy": "compact"}); err != nil {
			t.Fatal(err)
		}
		records := []*kgo.Record{{Topic: topicName, Key: []byte("first"), Value: []byte("v")}} // stays, as does the log's start
		for i := range 99 {
			records = append(records, &kgo.Record{Topic: topicName, Key: []byte(strconv.Itoa(i % 7)), Value: []byte("v")})
		}
		for _, r := range records { // a batch each, so that gaps appear between batches, too
			produceRecords(t, brokers, r)
		}
		cluster.Compact()
		l := newLedger()
		start(t, open(t, brokers, k), subscription(), newSink(t, l))
		p := idem.Partition{Topic: topicName}
		eventually(t, "the last record", func() bool { return l.position(p) == 100 })
		l.mu.Lock()
		defer l.mu.Unlock()
		if got := l.offsets[p]; len(got) >= 100 || !slices.IsSorted(got) {
			t.Errorf("%d offsets were delivered; compaction left no gap", len(got))
		}
	})
}
