package confluent

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
)

// broker asks the brokers. Any goroutine may.
type broker struct {
	addresses string
	client    *kafka.Consumer // only the polling goroutine changes the assignment
	admin     *kafka.AdminClient
	limit     time.Duration // of one question
}

// assignment asks the broker what the sink must know about a partition.
func (b *broker) assignment(ctx context.Context, id idem.Partition) (idem.Assignment, error) {
	a := idem.Assignment{Partition: id}
	topics, err := b.topics(ctx, id.Topic)
	if err != nil {
		return a, err
	}
	found, ok := topics[id.Topic]
	if !ok {
		return a, fmt.Errorf("topic %s does not exist", id.Topic)
	}
	a.TopicID, a.Partitions = found.id, found.partitions
	if a.Low, a.High, err = b.watermarks(id); err != nil {
		return a, err
	}
	a.Committed = func(context.Context) (int64, error) { return b.committed(id) }
	return a, nil
}

// committed asks for the group's committed offset, -1 if there is none. The client answers
// within the limit, or not at all.
func (b *broker) committed(id idem.Partition) (int64, error) {
	tp := kafka.TopicPartition{Topic: &id.Topic, Partition: id.Number}
	of, err := b.client.Committed([]kafka.TopicPartition{tp}, int(b.limit.Milliseconds()))
	if err == nil {
		err = of[0].Error
	}
	if err != nil {
		return -1, fmt.Errorf("asking for the group's committed offset: %w", err)
	}
	return max(int64(of[0].Offset), -1), nil
}

type topic struct {
	id         idem.UUID
	partitions int32
}

// topics asks for topic ids and partition counts. A topic that does not exist is left out.
func (b *broker) topics(ctx context.Context, names ...string) (map[string]topic, error) {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	answer, err := b.admin.DescribeTopics(ctx, kafka.NewTopicCollectionOfTopicNames(names), kafka.SetAdminRequestTimeout(b.limit))
	if err != nil {
		return nil, fmt.Errorf("asking for topic ids: %w", err)
	}
	out := map[string]topic{}
	for _, d := range answer.TopicDescriptions {
		if d.Error.Code() == kafka.ErrUnknownTopicOrPart {
			continue // deleted
		}
		if d.Error.Code() != kafka.ErrNoError {
			return nil, fmt.Errorf("asking for the id of topic %s: %w", d.Name, d.Error)
		}
		t := topic{partitions: int32(len(d.Partitions))}
		binary.BigEndian.PutUint64(t.id[:8], uint64(d.TopicID.GetMostSignificantBits()))
		binary.BigEndian.PutUint64(t.id[8:], uint64(d.TopicID.GetLeastSignificantBits()))
		out[d.Name] = t
	}
	return out, nil
}

// watermarks asks for the first offset that still exists, and the next one to come.
func (b *broker) watermarks(id idem.Partition) (low, high int64, err error) {
	low, high, err = b.client.QueryWatermarkOffsets(id.Topic, id.Number, int(b.limit.Milliseconds()))
	if err != nil {
		return 0, 0, fmt.Errorf("asking for the offsets of %s/%d: %w", id.Topic, id.Number, err)
	}
	return low, high, nil
}
