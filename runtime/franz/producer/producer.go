// Package producer sends the records of an [outbox.Relay] through franz-go. Services that relay
// nothing do not link it.
package producer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/franz/internal/clientlog"
	"github.com/idemgen/idemgen/runtime/franz/internal/options"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// Producer sends the records of an [outbox.Relay].
type Producer struct {
	options []kgo.Opt
	mu      sync.Mutex
	client  *kgo.Client // nil if the last one was given up
	ended   sync.WaitGroup
	closing bool
}

// refused are options that the relay rests on: a record is acknowledged when all replicas in sync
// have it, and none is doubled or overtaken by the client's own tries.
var refused = []options.Refusal{
	{Option: kgo.SeedBrokers, Why: "it is an argument"},
	{Option: kgo.WithLogger, Why: "the client logs to slog.Default()"},
	{Option: kgo.WithContext, Why: "Close ends the producer"},
	{Option: kgo.RequiredAcks, Why: "the outbox needs all replicas in sync"},
	{Option: kgo.DisableIdempotentWrite, Why: "the outbox needs idempotent writes"},
	{Option: kgo.ManualFlushing, Why: "the relay does not flush"},
}

// usual are defaults of ours. A key has the partition that it has with Java's clients, and so with
// Debezium. A broker that is away is reported after ten seconds, and a missing topic at the second
// look; the relay tries again: what was sent then may have arrived.
var usual = []kgo.Opt{
	kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.ProducerLinger(time.Millisecond), kgo.MaxBufferedRecords(100_000),
	kgo.RecordDeliveryTimeout(10 * time.Second), kgo.AllowIdempotentProduceCancellation(), kgo.UnknownTopicRetries(1),
}

// New connects to brokers, "host:port,host:port". Options are further ones of franz-go's client;
// those that the order and the acknowledgement of records rest on cannot be set. What the client
// logs goes to slog.Default(). Close the producer when its relay has ended.
func New(brokers string, opts ...kgo.Opt) (*Producer, error) {
	var errs []error
	if brokers == "" {
		errs = append(errs, errors.New("producer: no brokers were given"))
	}
	if _, err := options.Check(usual, opts, refused); err != nil {
		errs = append(errs, fmt.Errorf("producer: %w", err))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p := &Producer{options: slices.Concat(usual, opts, []kgo.Opt{
		kgo.SeedBrokers(strings.Split(brokers, ",")...), kgo.WithLogger(clientlog.New(slog.Default())),
	})}
	_, err := p.connected()
	return p, err
}

// connected is the client. One that was given up is followed by another.
func (p *Producer) connected() (client *kgo.Client, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closing:
		return nil, errors.New("producer: the producer is closed")
	case p.client == nil:
		p.client, err = kgo.NewClient(p.options...)
	}
	return p.client, err
}

// Produce hands a record over: see [outbox.Producer].
func (p *Producer) Produce(r outbox.Record, done func(error)) {
	client, err := p.connected()
	if err != nil {
		done(err)
		return
	}
	headers := make([]kgo.RecordHeader, len(r.Headers))
	for i, h := range r.Headers {
		headers[i] = kgo.RecordHeader{Key: h.Name, Value: h.Value}
	}
	record := &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Headers: headers}
	client.TryProduce(context.Background(), record, func(_ *kgo.Record, err error) { done(judge(err)) })
}

// refusing are errors about one record, or its topic.
var refusing = []error{
	kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.CorruptMessage, kerr.InvalidRecord, kerr.PolicyViolation,
	kerr.InvalidTopicException, kerr.TopicAuthorizationFailed, kerr.UnknownTopicOrPartition,
}

// judge says what an error means for a record.
func judge(err error) error {
	if slices.ContainsFunc(refusing, func(one error) bool { return errors.Is(err, one) }) {
		return &outbox.RefusedError{Err: err}
	}
	return err
}

// Purge gives up all records that are not acknowledged: see [outbox.Producer]. It gives up the
// client with them.
func (p *Producer) Purge() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != nil {
		p.ended.Go(p.client.Close)
		p.client = nil
	}
}

// Close ends the producer. Records that are not acknowledged are given up.
func (p *Producer) Close() {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.Purge()
	p.ended.Wait()
}
