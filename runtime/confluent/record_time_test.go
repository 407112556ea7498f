package confluent

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/idemgen/idemgen/runtime/wire"
)

// produceAppended fills the topic with a record such as a broker keeps if the topic has
// message.timestamp.type=LogAppendTime: the batch says that its timestamp is the broker's. This
// broker writes its time into the batch and not into the checksum, so that both must be the same.
func produceAppended(t testing.TB, cluster *kfake.Cluster, brokers string) {
	t.Helper()
	// Later versions name topics by their ids.
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.MaxVersions(kversion.V4_0_0()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 1000 {
		now := time.Now().UnixMilli()
		response, err := appendedAt(now).RequestWith(t.Context(), c)
		if err == nil {
			err = kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
		}
		if err != nil {
			t.Fatal(err)
		}
		if response.Topics[0].Partitions[0].LogAppendTime == now {
			return
		}
		if err := errors.Join(cluster.DeleteTopic(topicName), cluster.CreateTopic(topicName, 1, nil)); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the broker is never as fast as this")
}

func appendedAt(millis int64) *kmsg.ProduceRequest {
	record := kmsg.NewRecord()
	record.Value = []byte("1")
	record.Length = int32(len(record.AppendTo(nil)) - 1) // a length of 0 takes one byte
	batch := kmsg.NewRecordBatch()
	batch.Magic, batch.Attributes, batch.NumRecords = 2, 0x08, 1
	batch.FirstTimestamp, batch.MaxTimestamp = millis, millis
	batch.ProducerID, batch.ProducerEpoch, batch.FirstSequence = -1, -1, -1
	batch.Records = record.AppendTo(nil)
	batch.Length = int32(len(batch.AppendTo(nil)) - 12)
	batch.CRC = int32(crc32.Checksum(batch.AppendTo(nil)[21:], crc32.MakeTable(crc32.Castagnoli)))
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = batch.AppendTo(nil)
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic, topic.Partitions = topicName, append(topic.Partitions, partition)
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis, request.Topics = -1, 5000, append(request.Topics, topic)
	return request
}

// Records with the broker's timestamp halt a topic if the spec assumes that producers set it, and
// only then.
func TestRecordsWithTheBrokersTimeHalt(t *testing.T) {
	t.Parallel()
	for _, assumed := range []bool{true, false} {
		t.Run(fmt.Sprint(assumed), func(t *testing.T) {
			t.Parallel()
			cluster, brokers := startCluster(t, 1)
			produceAppended(t, cluster, brokers)
			produce(t, brokers, 2, 0)
			db := diaryDB(t)
			c := consumerOfTopic(t, db, wire.Topic{
				Name: topicName, StartFrom: wire.Earliest, CreateTime: assumed, Statements: []string{diarySQL}, NewPlan: func() wire.Plan { return &diary{} },
			})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- c.Run(ctx, source(t, brokers)) }()
			defer func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}()
			rows := func() int { return query(t, db, `SELECT count(*)::int FROM diary`) }
			if !assumed {
				eventually(t, "all records", func() bool { return rows() == 3 })
				return
			}
			eventually(t, "the halt", func() bool { return strings.Contains(fmt.Sprint(c.Health()), "HALTED") })
			why := c.Health().Error()
			for _, part := range []string{"record-refused", "offset 0", "assume.record_timestamp", "message.timestamp.type", "stream set", "--to 1"} {
				if !strings.Contains(why, part) {
					t.Errorf("%q lacks %q", why, part)
				}
			}
			time.Sleep(200 * time.Millisecond)
			if n := rows(); n != 0 {
				t.Errorf("%d rows, want none", n)
			}
		})
	}
}
