package idemtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/idemgen/idemgen/runtime/wire"
)

// ByKey is a partition number for [Broker.Produce]: it means that the partition is chosen by the
// hash of the message's key, as Java producers do, or of its value if it has no key.
const ByKey int32 = -1

// Broker is a Kafka broker inside this process. It stores records in memory, listens on a port of
// 127.0.0.1, and supports groups and transactions, but not replication.
type Broker struct {
	options    BrokerOptions
	client     *kgo.Client
	counts     sync.Mutex // guards partitions
	partitions map[string]int32
	address    string   // where it listens; clients may be told another one
	told       net.Addr // what they are told

	mu      sync.RWMutex
	cluster *kfake.Cluster // nil while it is stopped
}

// BrokerOptions are the options of [StartBrokerWith].
type BrokerOptions struct {
	// Front puts a proxy, for example, between clients and the broker: it receives the broker's
	// address and returns the address that clients use. The methods of Broker bypass it.
	Front func(address string) (string, error)
	// Dir is a folder in which the broker stores its state for [Broker.Start]; "" means memory.
	Dir string
	// Session is the session timeout of groups with group.protocol=consumer; 0 means Kafka's
	// default, 45 seconds.
	Session time.Duration
	// Missing is the number of partitions with which the broker creates a missing topic that a
	// client requests; 0 means that it does not create topics.
	Missing int32
}

// Kafka starts a broker for a test, until the test ends. topics maps each topic to its number of
// partitions.
func Kafka(t testing.TB, topics map[string]int32) *Broker {
	t.Helper()
	b, err := StartBroker(topics)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	t.Cleanup(b.Close)
	return b
}

// StartBroker is like [Kafka], for a program that is not a test.
func StartBroker(topics map[string]int32) (*Broker, error) {
	return StartBrokerWith(topics, BrokerOptions{})
}

// StartBrokerWith is like [StartBroker], with options.
func StartBrokerWith(topics map[string]int32, o BrokerOptions) (*Broker, error) {
	b := &Broker{options: o, partitions: map[string]int32{}, address: "127.0.0.1:0"}
	maps.Copy(b.partitions, topics)
	for topic, n := range topics {
		if n < 1 {
			return nil, fmt.Errorf("topic %s with %d partitions", topic, n)
		}
	}
	if err := b.Start(); err != nil {
		return nil, err
	}
	var err error
	if b.client, err = kgo.NewClient(b.clientOptions()...); err != nil {
		b.Stop()
		return nil, fmt.Errorf("connect to the broker: %w", err)
	}
	return b, nil
}

// clientOptions returns the options of the kit's own clients.
func (b *Broker) clientOptions() []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(b.Addr()),
		kgo.Dialer(b.dial),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0),
		// Later versions commit offsets by topic id, not by name.
		kgo.MaxVersions(kversion.V4_1_0()),
	}
}

// Addr returns the broker's host and port, for bootstrap.servers.
func (b *Broker) Addr() string { return b.told.String() }

// Close stops the broker and discards its records.
func (b *Broker) Close() {
	b.client.Close()
	b.Stop()
}

// Produce appends messages, in order within each partition. It sets the Offset of each message,
// and Partition if that is [ByKey]. Key and Value may be nil, and headers may repeat. A zero Time
// means now.
func (b *Broker) Produce(ctx context.Context, messages ...*wire.Message) error {
	return b.produce(ctx, b.client, messages)
}

func (b *Broker) produce(ctx context.Context, client *kgo.Client, messages []*wire.Message) error {
	hash := kgo.StickyKeyPartitioner(nil).ForTopic("")
	records := make([]*kgo.Record, len(messages))
	for i, m := range messages {
		n := b.count(m.Topic)
		if n == 0 || m.Partition >= n || m.Partition < ByKey {
			return fmt.Errorf("produce to %s/%d: no such partition", m.Topic, m.Partition)
		}
		r := &kgo.Record{Topic: m.Topic, Partition: m.Partition, Key: m.Key, Value: m.Value, Timestamp: m.Time}
		for _, h := range m.Headers {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
		}
		if m.Partition == ByKey {
			by := &kgo.Record{Topic: m.Topic, Key: m.Key}
			if m.Key == nil { // a producer chooses any partition: here the same one each time
				by.Key = append([]byte{}, m.Value...)
			}
			r.Partition = int32(hash.Partition(by, int(n)))
		}
		records[i] = r
	}
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	for i, r := range records {
		messages[i].Partition, messages[i].Offset = r.Partition, r.Offset
	}
	return nil
}

// Ends returns the offset that the next record of each partition will have.
func (b *Broker) Ends(topic string) []int64 {
	var ends []int64
	b.whileUp(func(c *kfake.Cluster) {
		for _, p := range c.PartitionInfos(topic) {
			ends = append(ends, p.HighWatermark)
		}
	})
	return ends
}

// Committed returns a group's committed offset for each partition of a topic; -1 if there is none.
func (b *Broker) Committed(group, topic string) []int64 {
	offsets := make([]int64, b.count(topic))
	info := b.group(group)
	for p := range offsets {
		offsets[p] = -1
		if info == nil {
			continue
		}
		if c, ok := info.Commits[topic][int32(p)]; ok {
			offsets[p] = c.Offset
		}
	}
	return offsets
}

// Commit sets a group's committed offset for each partition of a topic, as an operator might. The
// broker rejects it while the group has members.
func (b *Broker) Commit(ctx context.Context, group, topic string, offsets []int64) error {
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group = group
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	for p, offset := range offsets {
		partition := kmsg.NewOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Offset = int32(p), offset
		t.Partitions = append(t.Partitions, partition)
	}
	request.Topics = append(request.Topics, t)
	response, err := request.RequestWith(ctx, b.client)
	if err != nil {
		return fmt.Errorf("commit offsets of %s: %w", group, err)
	}
	var refused []error
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				refused = append(refused, fmt.Errorf("commit offset of %s for %s/%d: %w", group, t.Topic, p.Partition, err))
			}
		}
	}
	return errors.Join(refused...)
}

// DeleteRecords deletes the records of a partition below offset, as retention does.
func (b *Broker) DeleteRecords(topic string, partition int32, offset int64) (err error) {
	err = errStopped
	b.whileUp(func(c *kfake.Cluster) { err = c.DeleteRecords(topic, partition, offset) })
	return err
}
