package main

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A log that is produced while it is consumed, and dropped behind the consumer, is consumed whole,
// and little of it is kept.
func TestRecordsAreDroppedBehindTheirGroup(t *testing.T) {
	const ahead, wanted = 10_000, 60_000
	l := logs(1, 0, 0)[0]
	broker := idemtest.Kafka(t, map[string]int32{l.topic: partitions})
	flow, err := startFlow(t.Context(), flow{log: l, group: readingsGroup, broker: broker, ahead: ahead})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.ConsumerGroup(readingsGroup), kgo.ConsumeTopics(l.topic), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	read, next := 0, [partitions]int64{}
	for read < wanted {
		records := client.PollRecords(t.Context(), 2000).Records()
		for _, r := range records {
			if r.Offset != next[r.Partition] {
				t.Fatalf("partition %d: offset %d, want %d", r.Partition, r.Offset, next[r.Partition])
			}
			next[r.Partition]++
		}
		read += len(records)
		if err := client.CommitRecords(t.Context(), records...); err != nil {
			t.Fatal(err)
		}
	}
	if err := flow.end(); err != nil {
		t.Fatal(err)
	}
	dropped := 0
	for _, offset := range flow.dropped {
		dropped += int(offset)
	}
	if kept := flow.produced - dropped; dropped > read || kept > 2*ahead {
		t.Errorf("%d records of %d are dropped, %d read", dropped, flow.produced, read)
	}
}
