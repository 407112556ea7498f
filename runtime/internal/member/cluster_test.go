package member_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/idemgen/idemgen/internal/kit/fakebroker"
)

func startCluster(t testing.TB, partitions int32, opts ...kfake.Opt) (*kfake.Cluster, string) {
	t.Helper()
	c, err := fakebroker.New(append(clusterOptions(partitions), opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, c.ListenAddrs()[0]
}

func clusterOptions(partitions int32) []kfake.Opt {
	return []kfake.Opt{
		kfake.NumBrokers(1), kfake.SeedTopics(partitions, topicName), kfake.GroupMinSessionTimeout(time.Second),
		kfake.BrokerConfigs(map[string]string{
			"group.consumer.heartbeat.interval.ms": "200",
			"group.consumer.session.timeout.ms":    strconv.FormatInt(session.Milliseconds(), 10),
		}),
	}
}

// produce sends n records to each of the given partitions, with values "0", "1", ...
func produce(t testing.TB, brokers string, n int, partitions ...int32) {
	t.Helper()
	var records []*kgo.Record
	for _, p := range partitions {
		for i := range n {
			records = append(records, &kgo.Record{Topic: topicName, Partition: p, Value: []byte(strconv.Itoa(i))})
		}
	}
	produceRecords(t, brokers, records...)
}

func produceRecords(t testing.TB, brokers string, records ...*kgo.Record) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// asking is a client that asks brokers, and names topics by their names.
func asking(t testing.TB, brokers string) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.MaxVersions(kversion.V3_9_0()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
