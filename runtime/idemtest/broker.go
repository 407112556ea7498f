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

// ByKey as a message's partition lets [Broker.Produce] choose by the hash of its key, as Java
// producers do, and without a key by that of its value.
const ByKey int32 = -1

// Broker is a Kafka broker inside this process. It keeps records in memory, speaks the protocol on
// a port of 127.0.0.1 and knows groups and transactions; it has no replicas.
type Broker struct {
	options    BrokerOptions
	client     *kgo.Client
	partitions map[string]int32
	address    string   // where it listens; clients may be told another one
	told       net.Addr // what they are told

	mu      sync.RWMutex
	cluster *kfake.Cluster // nil while it is stopped
}

// BrokerOptions choose a broker for [StartBrokerWith].
type BrokerOptions struct {
	// Front puts something between broker and clients, such as a proxy: it gets the broker's
	// address and returns the one that clients use. The Broker's own methods bypass it.
	Front func(address string) (string, error)
	// Dir is a folder that keeps what the broker knows for [Broker.Start]; "" is memory.
	Dir string
	// Session is after how long a silent member of a group.protocol=consumer group is missed;
	// 0 is Kafka's 45 s.
	Session time.Duration
	// Missing makes a topic that is missing when a client asks for it, with this number of
	// partitions; 0 makes none.
	Missing int32
}

// Kafka starts a broker that is the test's own. Topics are given with their number of partitions.
func Kafka(t testing.TB, topics map[string]int32) *Broker {
	t.Helper()
	b, err := StartBroker(topics)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	t.Cleanup(b.Close)
	return b
}

// StartBroker is [Kafka] for a program that is not a test.
func StartBroker(topics map[string]int32) (*Broker, error) {
	return StartBrokerWith(topics, BrokerOptions{})
}

// StartBrokerWith is [StartBroker] with options.
func StartBrokerWith(topics map[string]int32, o BrokerOptions) (*Broker, error) {
	b := &Broker{options: o, partitions: maps.Clone(topics), address: "127.0.0.1:0"}
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

// clientOptions are those of every client of the kit's own.
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

// Addr is the broker's host and port, for bootstrap.servers.
func (b *Broker) Addr() string { return b.told.String() }

// Close stops the broker; its records are gone.
func (b *Broker) Close() {
	b.client.Close()
	b.Stop()
}

// Produce appends messages, in their order within each partition, and sets Offset and, where it
// was [ByKey], Partition. Key and value may be nil, headers may repeat; a zero Time is now.
func (b *Broker) Produce(ctx context.Context, messages ...*wire.Message) error {
	return b.produce(ctx, b.client, messages)
}

func (b *Broker) produce(ctx context.Context, client *kgo.Client, messages []*wire.Message) error {
	hash := kgo.StickyKeyPartitioner(nil).ForTopic("")
	records := make([]*kgo.Record, len(messages))
	for i, m := range messages {
		n, ok := b.partitions[m.Topic]
		if !ok || m.Partition >= n || m.Partition < ByKey {
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

// Ends are the offsets of the next record of each partition, by partition.
func (b *Broker) Ends(topic string) []int64 {
	var ends []int64
	b.whileUp(func(c *kfake.Cluster) {
		for _, p := range c.PartitionInfos(topic) {
			ends = append(ends, p.HighWatermark)
		}
	})
	return ends
}

// Committed are a group's committed offsets of a topic, by partition; -1 is none.
func (b *Broker) Committed(group, topic string) []int64 {
	offsets := make([]int64, b.partitions[topic])
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

// Commit sets a group's committed offsets of a topic, by partition, as an operator does. The
// broker refuses it while the group has members.
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

// DeleteRecords drops the records of a partition below offset, as retention does.
func (b *Broker) DeleteRecords(topic string, partition int32, offset int64) (err error) {
	err = errStopped
	b.whileUp(func(c *kfake.Cluster) { err = c.DeleteRecords(topic, partition, offset) })
	return err
}
