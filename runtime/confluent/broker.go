package confluent

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// broker queries the brokers. Any goroutine may use it.
type broker struct {
	client  *kafka.Consumer
	admin   *kafka.AdminClient
	timeout time.Duration // of one query
	epochs  *epochs

	use    sync.RWMutex // held while an effect, which may outlast its partition, uses the client
	closed bool
}

// close waits until no effect uses the client.
func (b *broker) close() {
	b.use.Lock()
	defer b.use.Unlock()
	b.closed = true
}

var noCommit = idem.Commit{Offset: -1}

// Commit has no timeout of its own: the client's requests have one.
func (b *broker) Commit(_ context.Context, durable map[idem.Partition]idem.Commit) error {
	var offsets []kafka.TopicPartition
	for id, c := range durable {
		at := topicPartition(&id, c.Offset)
		at.Metadata = &c.Metadata
		offsets = append(offsets, at)
	}
	done, err := b.client.CommitOffsets(offsets)
	for i := range done {
		if err == nil {
			err = done[i].Error
		}
	}
	return err
}

// Committed either succeeds within the timeout or fails.
func (b *broker) Committed(_ context.Context, topic string, partitions []int32) (map[int32]idem.Commit, error) {
	of := map[int32]idem.Commit{}
	var asked []kafka.TopicPartition
	for _, number := range partitions {
		of[number] = noCommit
		asked = append(asked, topicPartition(&idem.Partition{Topic: topic, Number: number}, int64(kafka.OffsetInvalid)))
	}
	b.use.RLock()
	defer b.use.RUnlock()
	if b.closed {
		return nil, errClosed
	}
	found, err := b.client.Committed(asked, int(b.timeout.Milliseconds()))
	for _, p := range found {
		c := idem.Commit{Offset: max(int64(p.Offset), -1)}
		if p.Metadata != nil {
			c.Metadata = *p.Metadata
		}
		if of[p.Partition] = c; err == nil {
			err = p.Error
		}
	}
	if err != nil {
		return nil, fmt.Errorf("query the group's committed offset: %w", err)
	}
	return of, nil
}

func (b *broker) Topics(ctx context.Context, names ...string) (map[string]intake.Topic, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if len(names) == 0 { // check nevertheless whether brokers respond
		_, err := b.admin.DescribeCluster(ctx, kafka.SetAdminRequestTimeout(b.timeout))
		return nil, err
	}
	question := kafka.NewTopicCollectionOfTopicNames(names)
	answer, err := b.admin.DescribeTopics(ctx, question, kafka.SetAdminRequestTimeout(b.timeout))
	if err != nil {
		return nil, fmt.Errorf("query topic ids: %w", err)
	}
	out := map[string]intake.Topic{}
	for _, d := range answer.TopicDescriptions {
		if d.Error.Code() == kafka.ErrUnknownTopicOrPart {
			continue // deleted
		}
		if d.Error.Code() != kafka.ErrNoError {
			return nil, fmt.Errorf("query the id of topic %s: %w", d.Name, d.Error)
		}
		t := intake.Topic{Partitions: int32(len(d.Partitions))}
		binary.BigEndian.PutUint64(t.ID[:8], uint64(d.TopicID.GetMostSignificantBits()))
		binary.BigEndian.PutUint64(t.ID[8:], uint64(d.TopicID.GetLeastSignificantBits()))
		out[d.Name] = t
	}
	return out, nil
}

func (b *broker) Watermarks(_ context.Context, id idem.Partition) (low, high int64, err error) {
	low, high, err = b.client.QueryWatermarkOffsets(id.Topic, id.Number, int(b.timeout.Milliseconds()))
	if err != nil {
		return 0, 0, fmt.Errorf("query the offsets of %s/%d: %w", id.Topic, id.Number, err)
	}
	return low, high, nil
}

func (b *broker) Ends(ctx context.Context, list []idem.Partition) (map[idem.Partition]int64, error) {
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
		id := partitionOf(tp)
		switch {
		case info.Error.Code() == kafka.ErrUnknownLeaderEpoch: // the client knows a later one, and ignores that of the log
			if _, end, err := b.Watermarks(ctx, id); err == nil {
				ends[id] = end
			}
		case info.Error.Code() == kafka.ErrNoError && info.Offset >= 0:
			ends[id] = int64(info.Offset)
		}
	}
	return ends, nil
}

func (b *broker) Last(ctx context.Context, id idem.Partition) (idem.Position, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	question := map[kafka.TopicPartition]kafka.OffsetSpec{{Topic: &id.Topic, Partition: id.Number}: kafka.LatestOffsetSpec}
	answer, err := b.admin.ListOffsets(ctx, question, kafka.SetAdminRequestTimeout(b.timeout), kafka.SetAdminIsolationLevel(kafka.IsolationLevelReadUncommitted))
	for _, info := range answer.ResultInfos {
		if err = info.Error; info.Error.Code() == kafka.ErrNoError {
			at := idem.Position{Offset: int64(info.Offset), Epoch: -1}
			if info.LeaderEpoch != nil {
				at.Epoch = *info.LeaderEpoch
			}
			return at, nil
		}
	}
	return idem.Position{}, fmt.Errorf("query the end of %s/%d: %w", id.Topic, id.Number, err)
}

// EpochEnd queries the current leader epoch, which usually is that of the position. If it is
// later, a client must determine where the position's epoch ends.
func (b *broker) EpochEnd(ctx context.Context, id idem.Partition, at idem.Position) (int64, error) {
	last, err := b.Last(ctx, id)
	if e, ok := errors.AsType[kafka.Error](err); ok && e.Code() == kafka.ErrUnknownLeaderEpoch {
		// The client knows a later epoch, and ignores lower ones.
		last.Epoch = math.MaxInt32
		_, last.Offset, err = b.Watermarks(ctx, id)
	}
	switch {
	case err != nil:
		return 0, err
	case last.Epoch < 0: // unknown
		return at.Offset, nil
	case last.Epoch < at.Epoch:
		return -1, nil
	case last.Epoch == at.Epoch:
		return last.Offset, nil
	}
	return b.epochs.end(ctx, id, at, last.Offset)
}

// OpenTransaction returns "", because the client has no call for it.
func (b *broker) OpenTransaction(context.Context, idem.Partition) string { return "" }

func (b *broker) TopicConfig(ctx context.Context, topic string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	question := []kafka.ConfigResource{{Type: kafka.ResourceTopic, Name: topic}}
	answer, err := b.admin.DescribeConfigs(ctx, question, kafka.SetAdminRequestTimeout(b.timeout))
	if err != nil {
		return nil, err
	}
	if e := answer[0].Error; e.Code() != kafka.ErrNoError {
		return nil, e
	}
	config := map[string]string{}
	for name, entry := range answer[0].Config {
		config[name] = entry.Value
	}
	return config, nil
}
