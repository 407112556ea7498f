package confluent

import (
	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/member"
)

// fetcher controls which partitions the client fetches, and from where.
type fetcher struct{ client *kafka.Consumer }

// Assign also acknowledges a rebalance, without partitions if none is ready.
func (f fetcher) Assign(list []member.At) error {
	var added []kafka.TopicPartition
	for i := range list {
		added = append(added, start(&list[i]))
	}
	return f.client.IncrementalAssign(added)
}

// Seek moves an assigned partition. If the client stopped reading the partition after an error, it
// rejects a seek; Seek then assigns the partition again.
func (f fetcher) Seek(to member.At) error {
	at := []kafka.TopicPartition{start(&to)}
	moved, err := f.client.SeekPartitions(at)
	if err == nil && moved[0].Error == nil {
		return nil
	}
	if err := f.client.IncrementalUnassign(at); err != nil {
		return err
	}
	return f.client.IncrementalAssign(at)
}

func (f fetcher) Pause(id idem.Partition) error  { return f.client.Pause(one(&id)) }
func (f fetcher) Resume(id idem.Partition) error { return f.client.Resume(one(&id)) }

// Unassign also acknowledges a rebalance if none of its partitions was assigned yet.
func (f fetcher) Unassign(list []idem.Partition) error {
	var all []kafka.TopicPartition
	for i := range list {
		all = append(all, one(&list[i])...)
	}
	return f.client.IncrementalUnassign(all)
}

func (f fetcher) End(id idem.Partition) int64 {
	if _, high, err := f.client.GetWatermarkOffsets(id.Topic, id.Number); err == nil {
		return high
	}
	return -1
}

// start returns the position from which the client must read.
func start(at *member.At) kafka.TopicPartition {
	tp := topicPartition(&at.Partition, at.Offset)
	if at.Epoch >= 0 {
		tp.LeaderEpoch = &at.Epoch
	}
	return tp
}

func one(id *idem.Partition) []kafka.TopicPartition {
	return []kafka.TopicPartition{topicPartition(id, int64(kafka.OffsetInvalid))}
}

func topicPartition(id *idem.Partition, offset int64) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: &id.Topic, Partition: id.Number, Offset: kafka.Offset(offset)}
}

func partitionOf(tp kafka.TopicPartition) idem.Partition {
	return idem.Partition{Topic: *tp.Topic, Number: tp.Partition}
}

func partitionsOf(list []kafka.TopicPartition) (out []idem.Partition) {
	for _, tp := range list {
		out = append(out, partitionOf(tp))
	}
	return out
}
