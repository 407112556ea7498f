// Package producer sends the records of an [outbox.Relay] through confluent-kafka-go. Services
// that relay nothing do not link it.
package producer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/confluent/internal/clientlog"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// Producer sends the records of an [outbox.Relay].
type Producer struct {
	config  *kafka.ConfigMap
	brokers string
	mu      sync.Mutex
	client  *kafka.Producer // nil if the last one failed for good
	ended   sync.WaitGroup
	closing bool
}

// produced are settings that the relay rests on: a record is acknowledged when all replicas in
// sync have it, and none is doubled or overtaken by the client's own tries.
var produced = kafka.ConfigMap{
	"enable.idempotence":     true,
	"acks":                   "all",
	"go.delivery.reports":    true,
	"go.batch.producer":      false,
	"go.logs.channel.enable": true,
}

// usualProducer are defaults of ours. A key has the partition that it has with Java's clients, and
// so with Debezium. A broker that is away is reported after ten seconds, and a missing topic after
// three; the relay tries again.
var usualProducer = kafka.ConfigMap{
	"partitioner":                       "murmur2_random",
	"linger.ms":                         1,
	"message.timeout.ms":                10_000,
	"topic.metadata.propagation.max.ms": 3_000,
}

// New connects to brokers, as bootstrap.servers has them. config are further settings of
// librdkafka's producer; those that the order and the acknowledgement of records rest on cannot be
// set. What the client logs goes to slog.Default(). Close the producer when its relay has ended.
func New(brokers string, config kafka.ConfigMap) (*Producer, error) {
	var errs []error
	if brokers == "" {
		errs = append(errs, errors.New("producer: no brokers were given"))
	}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if must, ok := produced[name]; ok {
			errs = append(errs, fmt.Errorf("producer: %s cannot be set: the outbox needs it to be %v", name, must))
		}
		if slices.Contains([]string{"bootstrap.servers", "transactional.id", "go.logs.channel"}, name) {
			errs = append(errs, fmt.Errorf("producer: %s cannot be set", name))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	all := kafka.ConfigMap{"bootstrap.servers": brokers}
	for _, m := range []kafka.ConfigMap{usualProducer, config, produced} {
		maps.Copy(all, m)
	}
	p := &Producer{config: &all, brokers: brokers}
	_, err := p.connected()
	return p, err
}

// connected is the client. One that failed for good is followed by another.
func (p *Producer) connected() (*kafka.Producer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closing:
		return nil, errors.New("producer: the producer is closed")
	case p.client != nil:
		return p.client, nil
	}
	client, err := kafka.NewProducer(p.config)
	if err != nil {
		return nil, fmt.Errorf("producer: settings: %w", err)
	}
	p.client = client
	log := clientlog.New(slog.Default(), p.brokers)
	p.ended.Go(func() { p.listen(client, log) })
	p.ended.Go(func() { log.Forward(context.Background(), client.Logs()) })
	return client, nil
}

// Produce hands a record over: see [outbox.Producer].
func (p *Producer) Produce(r outbox.Record, done func(error)) {
	client, err := p.connected()
	if err != nil {
		done(err)
		return
	}
	headers := make([]kafka.Header, len(r.Headers))
	for i, h := range r.Headers {
		headers[i] = kafka.Header{Key: h.Name, Value: h.Value}
	}
	err = client.Produce(&kafka.Message{
		TopicPartition: kafka.TopicPartition{Topic: &r.Topic, Partition: kafka.PartitionAny},
		Key:            r.Key, Value: r.Value, Headers: headers, Opaque: done,
	}, nil)
	if err != nil {
		done(p.judge(client, err))
	}
}

// listen takes the client's reports until it is closed.
func (p *Producer) listen(client *kafka.Producer, log *clientlog.Log) {
	for e := range client.Events() {
		switch e := e.(type) {
		case *kafka.Message:
			e.Opaque.(func(error))(p.judge(client, e.TopicPartition.Error))
		case kafka.Error:
			log.Report(e, false)
			_ = p.judge(client, e)
		}
	}
}

// refusing are errors about one record, or its topic.
var refusing = []kafka.ErrorCode{
	kafka.ErrMsgSizeTooLarge, kafka.ErrInvalidMsgSize, kafka.ErrRecordListTooLarge, kafka.ErrInvalidMsg, kafka.ErrInvalidRecord,
	kafka.ErrPolicyViolation, kafka.ErrTopicException, kafka.ErrTopicAuthorizationFailed, kafka.ErrUnknownTopic, kafka.ErrUnknownTopicOrPart,
	kafka.ErrUnknownPartition, kafka.ErrInvalidArg,
}

// judge says what an error means for a record. A client that failed for good is given up.
func (p *Producer) judge(client *kafka.Producer, err error) error {
	of, ok := errors.AsType[kafka.Error](err)
	switch {
	case !ok:
		return err
	case of.IsFatal():
		p.giveUp(client)
	case slices.Contains(refusing, of.Code()):
		return &outbox.RefusedError{Err: err}
	}
	return err
}

// giveUp closes a client that can send nothing any more. Its records are reported first.
func (p *Producer) giveUp(client *kafka.Producer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != client {
		return
	}
	p.client = nil
	p.ended.Go(func() {
		_ = client.Purge(kafka.PurgeQueue | kafka.PurgeInFlight)
		client.Flush(5000)
		client.Close()
	})
}

// Purge gives up all records that are not acknowledged: see [outbox.Producer].
func (p *Producer) Purge() {
	p.mu.Lock()
	client := p.client
	p.mu.Unlock()
	if client != nil {
		_ = client.Purge(kafka.PurgeQueue | kafka.PurgeInFlight)
	}
}

// Close ends the producer. Records that are not acknowledged are given up.
func (p *Producer) Close() {
	p.mu.Lock()
	client := p.client
	p.closing = true
	p.mu.Unlock()
	if client != nil {
		p.giveUp(client)
	}
	p.ended.Wait()
}
