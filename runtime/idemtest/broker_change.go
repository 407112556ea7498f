package idemtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/wire"
)

// CreatePartitions increases the number of partitions of a topic to n.
func (b *Broker) CreatePartitions(ctx context.Context, topic string, n int32) error {
	request := kmsg.NewPtrCreatePartitionsRequest()
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, n
	request.Topics, request.TimeoutMillis = append(request.Topics, t), 5000
	response, err := request.RequestWith(ctx, b.client)
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("create partitions of %s: %w", topic, err)
	}
	b.counts.Lock()
	b.partitions[topic] = n
	b.counts.Unlock()
	return b.renew()
}

// count is the number of partitions of a topic. Of one that nobody declared, it is the number with
// which the broker would create it.
func (b *Broker) count(topic string) int32 {
	b.counts.Lock()
	defer b.counts.Unlock()
	if n, made := b.partitions[topic]; made {
		return n
	}
	return b.options.Missing
}

// Recreate deletes a topic and creates it again, empty, with the same number of partitions. It
// then has another topic id, and groups have no committed offsets for it.
func (b *Broker) Recreate(topic string) (err error) {
	err = errStopped
	b.whileUp(func(c *kfake.Cluster) {
		if err = c.DeleteTopic(topic); err == nil {
			err = c.CreateTopic(topic, b.count(topic), nil)
		}
	})
	if err != nil {
		return fmt.Errorf("recreate topic %s: %w", topic, err)
	}
	return b.renew()
}

// renew replaces the producer, to drop its metadata of topics.
func (b *Broker) renew() error {
	client, err := kgo.NewClient(b.clientOptions()...)
	if err != nil {
		return err
	}
	b.client.Close()
	b.client = client
	return nil
}

// ProduceTransaction is like [Broker.Produce], in one transaction, which it commits or aborts. In
// both cases the messages and one marker per partition take up offsets.
func (b *Broker) ProduceTransaction(ctx context.Context, commit bool, messages ...*wire.Message) error {
	client, err := kgo.NewClient(append(b.clientOptions(), kgo.TransactionalID("idemtest"))...)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	err = b.produce(ctx, client, messages)
	return errors.Join(err, client.EndTransaction(ctx, kgo.TransactionEndTry(commit && err == nil)))
}

// Failure describes requests that the broker answers with an error. Requests and errors are the
// numbers of Kafka's protocol.
type Failure struct {
	Requests []int16 // such as 8 OffsetCommit, 11 JoinGroup, 12 Heartbeat, 14 SyncGroup; empty means all
	Error    int16   // such as 16 NOT_COORDINATOR, 22 ILLEGAL_GENERATION, 25 UNKNOWN_MEMBER_ID
	Times    int     // requests that fail; 0 means one, -1 all until the broker is closed
}

// Fail makes requests fail. The returned function reports how many have failed.
func (b *Broker) Fail(f Failure) (failed func() int) {
	var keys []kmsg.Key
	for _, k := range f.Requests {
		keys = append(keys, kmsg.Key(k))
	}
	var e *kerr.Error
	errors.As(kerr.ErrorForCode(f.Error), &e)
	failed = func() int { return 0 }
	b.whileUp(func(c *kfake.Cluster) { failed = c.Fault(kfake.Fault{Keys: keys, Err: e, Count: f.Times}).Hits })
	return failed
}

// Expel removes the members with a client id from a group, as a real broker does when their
// session expires. This broker does not expire sessions of members that die while they join, and
// their group would wait for them.
func (b *Broker) Expel(ctx context.Context, group, clientID string) error {
	info := b.group(group)
	if info == nil {
		return nil
	}
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Group = group
	for _, m := range info.Members {
		if m.ClientID == clientID {
			member := kmsg.NewLeaveGroupRequestMember()
			member.MemberID = m.MemberID
			request.Members = append(request.Members, member)
		}
	}
	if len(request.Members) == 0 {
		return nil
	}
	if _, err := request.RequestWith(ctx, b.client); err != nil {
		return fmt.Errorf("expel %s from group %s: %w", clientID, group, err)
	}
	return nil
}

// Joining reports whether a group waits for its members to join.
func (b *Broker) Joining(group string) bool {
	info := b.group(group)
	return info != nil && info.State == "PreparingRebalance"
}

// ServerSide reports whether the broker assigns the partitions of a group, as
// group.protocol=consumer requests.
func (b *Broker) ServerSide(ctx context.Context, group string) (bool, error) {
	request := kmsg.NewPtrConsumerGroupDescribeRequest()
	request.Groups = append(request.Groups, group)
	response, err := request.RequestWith(ctx, b.client)
	if err != nil {
		return false, fmt.Errorf("describe group %s: %w", group, err)
	}
	err = kerr.ErrorForCode(response.Groups[0].ErrorCode)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return false, nil
	}
	return err == nil, err
}
