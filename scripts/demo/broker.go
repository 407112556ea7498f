package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/idemgen/idemgen/internal/kit/kafkatest"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/admin"
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
	*admin.Client
}

// startKafka starts Apache Kafka and makes the topic.
func startKafka(ctx context.Context) (_ broker, err error) {
	server, err := kafkatest.Run(ctx, nil)
	if err != nil {
		return nil, err
	}
	client, err := admin.Connect(server.Addr())
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	a := &apache{server, client}
	if err := a.MakeTopic(ctx, admin.Topic{Name: topic, Partitions: partitions, Replicas: 1}); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close ends the client and the server, whose folder goes with it.
func (a *apache) Close() {
	a.Client.Close()
	_ = a.Broker.Close() // it was to end anyway
}

// Ends implements broker.
func (a *apache) Ends(topic string) []int64 {
	listed, err := a.ListEndOffsets(context.Background(), topic)
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
	fetched, err := a.FetchOffsets(context.Background(), group)
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
	return a.CommitAllOffsets(ctx, group, all)
}
