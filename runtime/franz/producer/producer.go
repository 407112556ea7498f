// Package producer sends the records of an [outbox.Relay] through franz-go. Only services with a
// relay need it.
package producer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/seeds"
	"github.com/idemgen/idemgen/runtime/franz/internal/clientlog"
	"github.com/idemgen/idemgen/runtime/franz/internal/options"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// Producer sends the records of an [outbox.Relay].
type Producer struct {
	options []kgo.Opt
	state   *clientlog.Connections
	mu      sync.Mutex
	client  *kgo.Client // nil if the last one was discarded
	ended   sync.WaitGroup
	closing bool
	renewed map[string][]func() // topics that the client is about to forget, and what follows
	forgets map[string]int      // how often a client began to forget a topic
}

// refused are the options that the relay depends on: a record is acknowledged when all in-sync
// replicas have it, and the client's retries neither duplicate nor reorder records.
var refused = []options.Refusal{
	{Option: kgo.SeedBrokers, Why: "it is an argument"},
	{Option: kgo.WithLogger, Why: "the client logs to slog.Default()"},
	{Option: kgo.WithContext, Why: "Close ends the producer"},
	{Option: kgo.RequiredAcks, Why: "the outbox needs all replicas in sync"},
	{Option: kgo.DisableIdempotentWrite, Why: "the outbox needs idempotent writes"},
	{Option: kgo.ManualFlushing, Why: "the relay does not flush"},
}

// usual are our defaults. A key is assigned to the same partition as by Java clients, and so by
// Debezium. A broker that is unreachable is reported after ten seconds, and a missing topic at the
// second attempt, within two seconds; the relay then retries, although a record may have arrived.
var usual = []kgo.Opt{
	kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.ProducerLinger(time.Millisecond), kgo.MaxBufferedRecords(100_000),
	kgo.RecordDeliveryTimeout(10 * time.Second), kgo.AllowIdempotentProduceCancellation(), kgo.UnknownTopicRetries(1),
	kgo.MetadataMinAge(time.Second),
}

// New returns a producer that connects to brokers, "host:port,host:port". opts are further options
// of franz-go's client; New returns an error for options that would break the order or the
// acknowledgement of records. The client logs to slog.Default(). Close the producer after its
// relay has ended.
func New(brokers string, opts ...kgo.Opt) (*Producer, error) {
	var errs []error
	if len(seeds.Of(brokers)) == 0 {
		errs = append(errs, errors.New("producer: no brokers were given"))
	}
	if _, err := options.Check(usual, opts, refused); err != nil {
		errs = append(errs, fmt.Errorf("producer: %w", err))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p := &Producer{state: &clientlog.Connections{}, renewed: map[string][]func(){}, forgets: map[string]int{}}
	p.options = slices.Concat(usual, opts, []kgo.Opt{
		kgo.SeedBrokers(seeds.Of(brokers)...), kgo.WithLogger(clientlog.New(slog.Default())), kgo.WithHooks(p.state),
	})
	if _, err := p.connected(); err != nil {
		return nil, err
	}
	return p, nil
}

// connected returns the client. It replaces a client that was discarded.
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

// Produce sends a record: see [outbox.Producer].
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
	before, under := p.forgotten(r.Topic)
	client.TryProduce(context.Background(), record, func(_ *kgo.Record, err error) {
		switch now, _ := p.forgotten(r.Topic); {
		case err != nil && (under || now != before): // the client dropped it
			done(p.judge(fmt.Errorf("%w: %w", kerr.UnknownTopicOrPartition, err)))
		case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.UnknownTopicOrPartition):
			p.renew(client, r.Topic, func() { done(p.judge(err)) })
		default:
			err = p.judge(err)
			p.discard(client, err)
			done(err)
		}
	})
}

// forgotten returns how often a client began to forget a topic, and whether it still has to do so.
// It forgets at its next update of metadata, and drops records that are produced until then, too.
func (p *Producer) forgotten(topic string) (times int, under bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, under = p.renewed[topic]
	return p.forgets[topic], under
}

// renew makes a client forget a topic, and then calls done. A client keeps the id of a topic that
// was deleted, and rejects records even after the topic is created again. Once it forgot the
// topic, it looks it up for the next record. Forgetting drops the topic's records that are not
// acknowledged, which Produce reports as those of a missing topic.
func (p *Producer) renew(client *kgo.Client, topic string, done func()) {
	p.mu.Lock()
	if p.client != client { // it was discarded
		p.mu.Unlock()
		done()
		return
	}
	defer p.mu.Unlock()
	waiting, under := p.renewed[topic]
	if p.renewed[topic] = append(waiting, done); under {
		return
	}
	p.forgets[topic]++
	p.ended.Go(func() {
		client.PurgeTopicsFromProducing(topic)
		p.mu.Lock()
		all := p.renewed[topic]
		delete(p.renewed, topic)
		p.mu.Unlock()
		for _, done := range all {
			done()
		}
	})
}

// refusing are the errors that concern one record, or its topic.
var refusing = map[error]outbox.Cause{
	kerr.MessageTooLarge: outbox.TooLarge, kerr.RecordListTooLarge: outbox.TooLarge,
	kerr.UnknownTopicOrPartition: outbox.NoTopic, kerr.UnknownTopicID: outbox.NoTopic,
	kerr.CorruptMessage: "", kerr.InvalidRecord: "", kerr.PolicyViolation: "", kerr.InvalidTopicException: "", kerr.TopicAuthorizationFailed: "",
}

// judge classifies an error of a record. If no broker can be used, it says why: the record's own
// error says that its time is over.
func (p *Producer) judge(err error) error {
	if err == nil {
		return nil
	}
	for one, cause := range refusing {
		if errors.Is(err, one) {
			return &outbox.RefusedError{Err: err, Cause: cause}
		}
	}
	if cause := p.state.Cause(); cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// discard discards a client that was refused a producer id: it keeps that error, and fails all
// records with it.
func (p *Producer) discard(client *kgo.Client, err error) {
	if !errors.Is(err, kerr.ClusterAuthorizationFailed) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client == client {
		p.purge()
	}
}

// Purge drops all records that are not acknowledged: see [outbox.Producer]. It also discards the
// client.
func (p *Producer) Purge() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.purge()
}

// purge is Purge. p.mu is locked.
func (p *Producer) purge() {
	if p.client != nil {
		p.ended.Go(p.client.Close)
		p.client = nil
	}
}

// Close closes the producer. It drops records that are not acknowledged.
func (p *Producer) Close() {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.Purge()
	p.ended.Wait()
}
