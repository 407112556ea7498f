package confluent

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// broker asks the brokers. Any goroutine may.
type broker struct {
	client  *kafka.Consumer
	admin   *kafka.AdminClient
	timeout time.Duration // of one question
}

// describe asks what the sink must know about a partition.
func (b *broker) describe(ctx context.Context, id idem.Partition) (idem.Assignment, error) {
	a := idem.Assignment{Partition: id}
	topics, err := b.describeTopics(ctx, id.Topic)
	if err != nil {
		return a, err
	}
	found, ok := topics[id.Topic]
	if !ok {
		return a, fmt.Errorf("topic %s does not exist", id.Topic)
	}
	a.TopicID, a.Partitions = found.ID, found.Partitions
	if a.Low, a.High, err = b.watermarks(id); err != nil {
		return a, err
	}
	a.Committed = func(context.Context) (int64, error) { return b.committed(id) }
	return a, nil
}

// committed asks for the group's committed offset, -1 if there is none. The client answers
// within the timeout, or not at all.
func (b *broker) committed(id idem.Partition) (int64, error) {
	tp := kafka.TopicPartition{Topic: &id.Topic, Partition: id.Number}
	of, err := b.client.Committed([]kafka.TopicPartition{tp}, int(b.timeout.Milliseconds()))
	if err == nil {
		err = of[0].Error
	}
	if err != nil {
		return -1, fmt.Errorf("asking for the group's committed offset: %w", err)
	}
	return max(int64(of[0].Offset), -1), nil
}

// describeTopics asks for topic ids and partition counts. A topic that does not exist is left
// out. Without names it asks the brokers for a sign of life.
func (b *broker) describeTopics(ctx context.Context, names ...string) (map[string]intake.Topic, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if len(names) == 0 { // of patterns only, without partitions: whether brokers answer is asked all the same
		_, err := b.admin.DescribeCluster(ctx, kafka.SetAdminRequestTimeout(b.timeout))
		return nil, err
	}
	question := kafka.NewTopicCollectionOfTopicNames(names)
	answer, err := b.admin.DescribeTopics(ctx, question, kafka.SetAdminRequestTimeout(b.timeout))
	if err != nil {
		return nil, fmt.Errorf("asking for topic ids: %w", err)
	}
	out := map[string]intake.Topic{}
	for _, d := range answer.TopicDescriptions {
		if d.Error.Code() == kafka.ErrUnknownTopicOrPart {
			continue // deleted
		}
		if d.Error.Code() != kafka.ErrNoError {
			return nil, fmt.Errorf("asking for the id of topic %s: %w", d.Name, d.Error)
		}
		t := intake.Topic{Partitions: int32(len(d.Partitions))}
		binary.BigEndian.PutUint64(t.ID[:8], uint64(d.TopicID.GetMostSignificantBits()))
		binary.BigEndian.PutUint64(t.ID[8:], uint64(d.TopicID.GetLeastSignificantBits()))
		out[d.Name] = t
	}
	return out, nil
}

// watermarks asks for the first offset that still exists, and the next one to come.
func (b *broker) watermarks(id idem.Partition) (low, high int64, err error) {
	low, high, err = b.client.QueryWatermarkOffsets(id.Topic, id.Number, int(b.timeout.Milliseconds()))
	if err != nil {
		return 0, 0, fmt.Errorf("asking for the offsets of %s/%d: %w", id.Topic, id.Number, err)
	}
	return low, high, nil
}

// logEnds asks for the next offsets to come. What is not answered is left out.
func (b *broker) logEnds(ctx context.Context, list []idem.Partition) (map[idem.Partition]int64, error) {
	if len(list) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	question := map[kafka.TopicPartition]kafka.OffsetSpec{}
	for i := range list {
		question[kafka.TopicPartition{Topic: &list[i].Topic, Partition: list[i].Number}] = kafka.LatestOffsetSpec
	}
	answer, err := b.admin.ListOffsets(ctx, question, kafka.SetAdminRequestTimeout(b.timeout))
	if err != nil {
		return nil, err
	}
	ends := map[idem.Partition]int64{}
	for tp, info := range answer.ResultInfos {
		if info.Error.Code() == kafka.ErrNoError && info.Offset >= 0 {
			ends[partitionOf(tp)] = int64(info.Offset)
		}
	}
	return ends, nil
}
