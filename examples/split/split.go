// Package split divides a topic between two databases. Each has a service of its own, as
// docs/scaling.md describes.
package split

import (
	"context"
	"hash/fnv"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// Whole is the topic that is divided.
	Whole = "bookings.v1"
	// Job is the consumer group of [Forward].
	Job = "bookings-splitter"
)

// Topics are the topics of the services, in the order of their databases.
var Topics = [...]string{"bookings-1.v1", "bookings-2.v1"}

// TopicOf returns the topic of an account. All that writes one row must be in one topic.
func TopicOf(account []byte) string {
	h := fnv.New32a()
	_, _ = h.Write(account)
	return Topics[h.Sum32()%uint32(len(Topics))]
}

// Forward sends each record of [Whole] to the topic of its account, until ctx is done. After a
// crash it sends records again: the services recognize them by the events' keys, which are in a
// header. Records of one account stay in order.
func Forward(ctx context.Context, brokers string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.ConsumerGroup(Job), kgo.ConsumeTopics(Whole),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	for {
		fetched := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetched.Err(); err != nil {
			return err
		}
		var records []*kgo.Record
		fetched.EachRecord(func(r *kgo.Record) {
			records = append(records, &kgo.Record{Topic: TopicOf(r.Key), Key: r.Key, Value: r.Value, Headers: r.Headers, Timestamp: r.Timestamp})
		})
		if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
			return err
		}
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			return err
		}
		client.AllowRebalance()
	}
}
