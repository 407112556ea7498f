package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/kit/kafkatest"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// broker is what the demo asks of Kafka.
type broker interface {
	Addr() string
	Close()
	Produce(ctx context.Context, messages ...*wire.Message) error
	Ends(topic string) []int64 // nil if they are not known
	Committed(group, topic string) []int64
	Commit(ctx context.Context, group, topic string, offsets []int64) error
}

// servedBy is the first line: what of this is real.
func servedBy() string {
	if onKafka() {
		return "Postgres and Apache Kafka are real servers"
	}
	return "Postgres is a real server; the broker is kfake, franz-go's broker for tests, in this process, not Apache Kafka (KAFKA=real runs it)"
}

// onKafka reports whether the demo runs on Apache Kafka.
func onKafka() bool { return os.Getenv("KAFKA") == "real" }

// startBroker starts a broker with the topic of the demo.
func startBroker(ctx context.Context, o idemtest.BrokerOptions) (broker, error) {
	switch kind := os.Getenv("KAFKA"); kind {
	case "", "kfake":
		return idemtest.StartBrokerWith(map[string]int32{topic: partitions}, o)
	case "real":
		return startKafka(ctx)
	default:
		return nil, fmt.Errorf("KAFKA=%s: want real or kfake", kind)
	}
}

// apache is an Apache Kafka of its own, with a client.
type apache struct {
	*kafkatest.Broker
	client *kgo.Client
	admin  *kadm.Client
}

// startKafka starts Apache Kafka and makes the topic, which keeps records of any age.
func startKafka(ctx context.Context) (_ broker, err error) {
	server, err := kafkatest.Run(ctx, nil)
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(server.Addr()), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	a := &apache{server, client, kadm.NewClient(client)}
	forever, anyTime := "-1", "9223372036854775807"
	made, err := a.admin.CreateTopic(ctx, partitions, 1, map[string]*string{"retention.ms": &forever, "message.timestamp.after.max.ms": &anyTime}, topic)
	if err = errors.Join(err, made.Err); err != nil {
		a.Close()
		return nil, fmt.Errorf("make topic %s: %w", topic, err)
	}
	return a, nil
}

// Close ends the client and the server, whose folder goes with it.
func (a *apache) Close() {
	a.client.Close()
	_ = a.Broker.Close() // it was to end anyway
}

// Produce implements broker.
func (a *apache) Produce(ctx context.Context, messages ...*wire.Message) error {
	records := make([]*kgo.Record, len(messages))
	for i, m := range messages {
		records[i] = &kgo.Record{Topic: m.Topic, Partition: m.Partition, Key: m.Key, Value: m.Value, Timestamp: m.Time}
		for _, h := range m.Headers {
			records[i].Headers = append(records[i].Headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
		}
	}
	if err := a.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	for i, r := range records {
		messages[i].Offset = r.Offset
	}
	return nil
}

// Ends implements broker.
func (a *apache) Ends(topic string) []int64 {
	listed, err := a.admin.ListEndOffsets(context.Background(), topic)
	if err != nil || listed.Error() != nil {
		return nil
	}
	ends := make([]int64, partitions)
	listed.Each(func(o kadm.ListedOffset) { ends[o.Partition] = o.Offset })
	return ends
}

// Committed implements broker.
func (a *apache) Committed(group, topic string) []int64 {
	offsets := make([]int64, partitions)
	fetched, err := a.admin.FetchOffsets(context.Background(), group)
	for p := range offsets {
		offsets[p] = -1
		if o, ok := fetched.Lookup(topic, int32(p)); err == nil && ok {
			offsets[p] = o.At
		}
	}
	return offsets
}

// Commit implements broker.
func (a *apache) Commit(ctx context.Context, group, topic string, offsets []int64) error {
	var all kadm.Offsets
	for p, offset := range offsets {
		all.AddOffset(topic, int32(p), offset, -1)
	}
	return a.admin.CommitAllOffsets(ctx, group, all)
}
