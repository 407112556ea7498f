package franz

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/franz/internal/clientlog"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// broker queries the brokers. Any goroutine may use it.
type broker struct {
	group, fetch *kgo.Client
	name         string // of the group
	state        *clientlog.Connections
	timeout      time.Duration // of one query

	mu  sync.Mutex
	ids map[string]idem.UUID // of topics, as of the last response
}

// errIncomplete is the error of a response that lacks what was queried. That is not an answer: a
// partition without a committed offset, for one, is listed with the offset -1.
var errIncomplete = errors.New("the broker's response is incomplete")

// Commit sends the request with the current member id and generation. The client's own method of
// committing depends on what it has consumed, which is nothing.
func (b *broker) Commit(ctx context.Context, durable map[idem.Partition]idem.Commit) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Group = b.name
	q.MemberID, q.Generation = b.group.GroupMetadata()
	topics := map[string]kmsg.OffsetCommitRequestTopic{}
	for id, c := range durable {
		topic, p := topics[id.Topic], kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.Metadata = id.Number, c.Offset, &c.Metadata
		topic.Topic, topic.TopicID, topic.Partitions = id.Topic, b.id(id.Topic), append(topic.Partitions, p)
		topics[id.Topic] = topic
	}
	q.Topics = slices.Collect(maps.Values(topics))
	r, err := q.RequestWith(ctx, b.group)
	if err != nil {
		return b.state.Why(err)
	}
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *broker) Committed(ctx context.Context, name string, partitions []int32) (map[int32]idem.Commit, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	q := kmsg.NewPtrOffsetFetchRequest()
	group, topic := kmsg.NewOffsetFetchRequestGroup(), kmsg.NewOffsetFetchRequestGroupTopic()
	topic.Topic, topic.TopicID, topic.Partitions = name, b.id(name), partitions
	group.Group, group.Topics = b.name, append(group.Topics, topic)
	q.Groups, q.RequireStable = append(q.Groups, group), true // of a transaction that ends, its offsets
	r, err := q.RequestWith(ctx, b.fetch)
	if err == nil && len(r.Groups) == 0 {
		err = errIncomplete
	}
	if err == nil {
		err = kerr.ErrorForCode(r.Groups[0].ErrorCode)
	}
	of := map[int32]idem.Commit{}
	if err == nil && len(r.Groups[0].Topics) > 0 {
		for _, p := range r.Groups[0].Topics[0].Partitions {
			c := idem.Commit{Offset: max(p.Offset, -1)}
			if p.Metadata != nil {
				c.Metadata = *p.Metadata
			}
			if of[p.Partition] = c; err == nil {
				err = kerr.ErrorForCode(p.ErrorCode)
			}
		}
	}
	if err == nil && len(of) < len(partitions) { // an offset that was not committed is listed as -1
		err = errIncomplete
	}
	if err != nil {
		return nil, fmt.Errorf("query the group's committed offset: %w", b.state.Why(err))
	}
	return of, nil
}

func (b *broker) Topics(ctx context.Context, names ...string) (map[string]intake.Topic, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	q := kmsg.NewPtrMetadataRequest()
	q.Topics = []kmsg.MetadataRequestTopic{} // none, not all
	for _, name := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		q.Topics = append(q.Topics, t)
	}
	r, err := q.RequestWith(ctx, b.fetch)
	if err != nil {
		return nil, b.state.Why(err)
	}
	out := map[string]intake.Topic{}
	for _, t := range r.Topics {
		switch err := kerr.ErrorForCode(t.ErrorCode); err {
		case nil:
			out[*t.Topic] = intake.Topic{ID: t.TopicID, Partitions: int32(len(t.Partitions))}
		case kerr.UnknownTopicOrPartition: // deleted
		default:
			return nil, fmt.Errorf("query the id of topic %s: %w", *t.Topic, err)
		}
	}
	b.remember(out)
	return out, nil
}

func (b *broker) remember(topics map[string]intake.Topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, t := range topics {
		b.ids[name] = t.ID
	}
}

func (b *broker) id(topic string) idem.UUID {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ids[topic]
}

// The timestamps that query the two ends of a log.
const (
	earliest = -2
	latest   = -1
)

// Watermarks returns the offsets for consumers that read only committed records.
func (b *broker) Watermarks(ctx context.Context, id idem.Partition) (low, high int64, err error) {
	ask := func(of int64) (int64, error) {
		at, err := b.offset(ctx, of, 1, id)
		if err != nil {
			return 0, fmt.Errorf("query the offsets of %s/%d: %w", id.Topic, id.Number, err)
		}
		return at.Offset, nil
	}
	if low, err = ask(earliest); err == nil {
		high, err = ask(latest)
	}
	return low, high, err
}

func (b *broker) Ends(ctx context.Context, list []idem.Partition) (map[idem.Partition]int64, error) {
	ends := map[idem.Partition]int64{}
	var last error
	for _, id := range list { // in one request, an error of one partition would be an error of all
		end, err := b.offset(ctx, latest, 0, id)
		if _, answered := errors.AsType[*kerr.Error](err); answered { // such as one without a leader
			last = err
			continue
		}
		if err != nil {
			return ends, err
		}
		ends[id] = end.Offset
	}
	if len(ends) > 0 {
		last = nil
	}
	return ends, last
}

func (b *broker) Last(ctx context.Context, id idem.Partition) (idem.Position, error) {
	end, err := b.offset(ctx, latest, 0, id)
	if err != nil {
		return idem.Position{}, fmt.Errorf("query the end of %s/%d: %w", id.Topic, id.Number, err)
	}
	return end, nil
}

func (b *broker) EpochEnd(ctx context.Context, id idem.Partition, at idem.Position) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	q := kmsg.NewPtrOffsetForLeaderEpochRequest()
	topic, p := kmsg.NewOffsetForLeaderEpochRequestTopic(), kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	p.Partition, p.LeaderEpoch = id.Number, at.Epoch
	topic.Topic, topic.Partitions = id.Topic, append(topic.Partitions, p)
	q.ReplicaID, q.Topics = -1, append(q.Topics, topic)
	r, err := q.RequestWith(ctx, b.fetch)
	switch {
	case err != nil:
		err = b.state.Why(err)
	case len(r.Topics) == 0 || len(r.Topics[0].Partitions) == 0:
		err = errIncomplete
	default:
		if err = kerr.ErrorForCode(r.Topics[0].Partitions[0].ErrorCode); err == nil {
			return r.Topics[0].Partitions[0].EndOffset, nil
		}
	}
	return 0, fmt.Errorf("query the end of leader epoch %d of %s/%d: %w", at.Epoch, id.Topic, id.Number, err)
}

// offset queries the offset of a partition at a timestamp, with an isolation level.
func (b *broker) offset(ctx context.Context, at int64, isolation int8, id idem.Partition) (idem.Position, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	q := kmsg.NewPtrListOffsetsRequest()
	q.ReplicaID, q.IsolationLevel = -1, isolation
	topic, p := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp, p.CurrentLeaderEpoch = id.Number, at, -1
	topic.Topic, topic.Partitions = id.Topic, append(topic.Partitions, p)
	q.Topics = append(q.Topics, topic)
	r, err := q.RequestWith(ctx, b.fetch)
	switch {
	case err != nil:
		return idem.Position{}, b.state.Why(err)
	case len(r.Topics) == 0 || len(r.Topics[0].Partitions) == 0:
		return idem.Position{}, errIncomplete
	}
	found := r.Topics[0].Partitions[0]
	return idem.Position{Offset: found.Offset, Epoch: found.LeaderEpoch}, kerr.ErrorForCode(found.ErrorCode)
}

func (b *broker) OpenTransaction(ctx context.Context, id idem.Partition) string {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	q, topic := kmsg.NewPtrDescribeProducersRequest(), kmsg.NewDescribeProducersRequestTopic()
	topic.Topic, topic.Partitions = id.Topic, []int32{id.Number}
	q.Topics = append(q.Topics, topic)
	r, err := q.RequestWith(ctx, b.fetch)
	if err != nil || len(r.Topics) == 0 || len(r.Topics[0].Partitions) == 0 {
		return ""
	}
	first, who := int64(-1), ""
	for _, p := range r.Topics[0].Partitions[0].ActiveProducers {
		if at := p.CurrentTxnStartOffset; at >= 0 && (first < 0 || at < first) {
			first, who = at, fmt.Sprintf("producer id %d, whose last record was written at %s", p.ProducerID, time.UnixMilli(p.LastTimestamp).UTC().Format(time.RFC3339))
		}
	}
	return who
}

func (b *broker) TopicConfig(ctx context.Context, topic string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	q := kmsg.NewPtrDescribeConfigsRequest()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	q.Resources = append(q.Resources, resource)
	r, err := q.RequestWith(ctx, b.fetch)
	if err != nil {
		return nil, err
	}
	if len(r.Resources) == 0 {
		return nil, errIncomplete
	}
	if err := kerr.ErrorForCode(r.Resources[0].ErrorCode); err != nil {
		return nil, err
	}
	config := map[string]string{}
	for _, c := range r.Resources[0].Configs {
		if c.Value != nil {
			config[c.Name] = *c.Value
		}
	}
	return config, nil
}
