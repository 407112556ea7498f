// Package producer sends the records of an [outbox.Relay] through confluent-kafka-go. Only
// services with a relay need it.
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
	client  *handle // nil if the last one failed permanently
	ended   sync.WaitGroup
	closing bool
	cause   error // why brokers cannot be used, as of the last event; nil if one took a record since
}

// handle is a client that nobody uses once it is closed: librdkafka's memory is gone then.
type handle struct {
	*kafka.Producer
	use    sync.RWMutex // held while the client is called
	closed bool
}

// call calls the client, unless it is closed.
func (h *handle) call(what func() error) error {
	h.use.RLock()
	defer h.use.RUnlock()
	if h.closed {
		return errClosed
	}
	return what()
}

// close closes the client once nobody calls it.
func (h *handle) close() {
	h.use.Lock()
	h.closed = true
	h.use.Unlock()
	h.Close()
}

var errClosed = errors.New("producer: the client is closed")

// produced are the settings that the relay depends on: a record is acknowledged when all in-sync
// replicas have it, and the client's retries neither duplicate nor reorder records.
var produced = kafka.ConfigMap{
	"enable.idempotence":       true,
	"acks":                     "all",
	"allow.auto.create.topics": false, // a missing topic is reported
	"go.delivery.reports":      true,
	"go.batch.producer":        false,
	"go.logs.channel.enable":   true,
}

// usualProducer are our defaults. A key is assigned to the same partition as by Java clients, and
// so by Debezium. A broker that is unreachable is reported after ten seconds, and a missing topic
// after three; the relay retries.
var usualProducer = kafka.ConfigMap{
	"partitioner":                       "murmur2_random",
	"linger.ms":                         1,
	"message.timeout.ms":                10_000,
	"topic.metadata.propagation.max.ms": 3_000,
}

// New returns a producer that connects to brokers, "host:port,host:port". config holds further
// settings of librdkafka's producer; New returns an error for settings that would break the order
// or the acknowledgement of records. The client logs to slog.Default(). Close the producer after
// its relay has ended.
func New(brokers string, config kafka.ConfigMap) (*Producer, error) {
	var errs []error
	if brokers == "" {
		errs = append(errs, errors.New("producer: no brokers were given"))
	}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if must, ok := produced[name]; ok {
			errs = append(errs, fmt.Errorf("producer: %s cannot be set: the outbox needs it to be %v", name, must))
		}
		if slices.Contains([]string{"bootstrap.servers", "metadata.broker.list", "request.required.acks", "transactional.id", "go.logs.channel"}, name) {
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
	for ours, alias := range map[string]string{"linger.ms": "queue.buffering.max.ms", "message.timeout.ms": "delivery.timeout.ms"} {
		if _, set := config[alias]; set { // the client applies settings in any order
			delete(all, ours)
		}
	}
	p := &Producer{config: &all, brokers: brokers}
	if _, err := p.connected(); err != nil {
		return nil, err
	}
	return p, nil
}

// connected returns the client. It replaces a client that failed permanently.
func (p *Producer) connected() (*handle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closing:
		return nil, errors.New("producer: the producer is closed")
	case p.client != nil:
		return p.client, nil
	}
	of, err := kafka.NewProducer(p.config)
	if err != nil {
		return nil, fmt.Errorf("producer: settings: %w", err)
	}
	client := &handle{Producer: of}
	p.client = client
	log := clientlog.New(slog.Default(), p.brokers)
	p.ended.Go(func() { p.listen(client, log) })
	p.ended.Go(func() { log.Forward(context.Background(), client.Logs()) })
	return client, nil
}

// Produce sends a record: see [outbox.Producer].
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
	err = client.call(func() error {
		return client.Produce(&kafka.Message{
			TopicPartition: kafka.TopicPartition{Topic: &r.Topic, Partition: kafka.PartitionAny},
			Key:            r.Key, Value: r.Value, Headers: headers, Opaque: done,
		}, nil)
	})
	if err != nil {
		done(p.judge(client, err))
	}
}

// listen handles the client's events until it is closed.
func (p *Producer) listen(client *handle, log *clientlog.Log) {
	for e := range client.Events() {
		switch e := e.(type) {
		case *kafka.Message:
			if e.TopicPartition.Error == nil {
				p.learn(nil)
			}
			e.Opaque.(func(error))(p.judge(client, e.TopicPartition.Error))
		case kafka.OAuthBearerTokenRefresh:
			p.learn(clientlog.NoToken)
		case kafka.Error:
			if cause := log.CauseOf(e); cause != nil {
				p.learn(cause)
			}
			log.Report(e, false)
			_ = p.judge(client, e)
		}
	}
}

func (p *Producer) learn(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cause = cause
}

// refusing are the errors that concern one record, or its topic.
var refusing = map[kafka.ErrorCode]outbox.Cause{
	kafka.ErrMsgSizeTooLarge: outbox.TooLarge, kafka.ErrInvalidMsgSize: outbox.TooLarge, kafka.ErrRecordListTooLarge: outbox.TooLarge,
	kafka.ErrUnknownTopic: outbox.NoTopic, kafka.ErrUnknownTopicOrPart: outbox.NoTopic, kafka.ErrUnknownPartition: outbox.NoTopic,
	kafka.ErrInvalidMsg: "", kafka.ErrInvalidRecord: "", kafka.ErrPolicyViolation: "", kafka.ErrTopicException: "",
	kafka.ErrTopicAuthorizationFailed: "", kafka.ErrInvalidArg: "",
}

// judge classifies an error of a record. It discards a client that failed permanently. If no
// broker can be used, it says why: the record's own error says that its time is over.
func (p *Producer) judge(client *handle, err error) error {
	of, ok := errors.AsType[kafka.Error](err)
	cause, rejects := refusing[of.Code()]
	switch {
	case !ok:
		return err
	case of.IsFatal():
		p.giveUp(client)
	case rejects:
		return &outbox.RefusedError{Err: err, Cause: cause}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != nil {
		return fmt.Errorf("%w: %w", p.cause, err)
	}
	return err
}

// giveUp closes a client that can no longer send. Its records are reported first.
func (p *Producer) giveUp(client *handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != client {
		return
	}
	p.client = nil
	p.ended.Go(func() {
		_ = client.Purge(kafka.PurgeQueue | kafka.PurgeInFlight)
		client.Flush(5000)
		client.close()
	})
}

// Purge drops all records that are not acknowledged: see [outbox.Producer].
func (p *Producer) Purge() {
	p.mu.Lock()
	client := p.client
	p.mu.Unlock()
	if client != nil {
		_ = client.call(func() error { return client.Purge(kafka.PurgeQueue | kafka.PurgeInFlight) })
	}
}

// Close closes the producer. It drops records that are not acknowledged.
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
