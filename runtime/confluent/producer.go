package confluent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// Producer sends what a [outbox.Relay] reads. Its zero value needs Brokers only. It is always an
// idempotent producer, so that the client's own tries neither double nor swap records.
type Producer struct {
	// Brokers is where the client starts: "host:port,host:port".
	Brokers string
	// Config holds more settings of the client, under librdkafka's names: security, client.id,
	// compression.type, linger.ms, message.max.bytes. Settings that the promise rests on are refused
	// by name. partitioner is murmur2_random unless it says otherwise, which is what Java producers
	// do, Debezium's among them; random is refused.
	Config kafka.ConfigMap
	// TransactionalID has each batch sent in a transaction, for readers with read_committed. It
	// must be one that only the relays of this outbox have: a relay that begins to send ends what
	// the one before it still has on its way, and that one can send no more.
	TransactionalID string
	// Logger gets what the client logs. Nil means slog.Default().
	Logger *slog.Logger
}

// fixedOfProducer are the settings that the relay's promise rests on.
var fixedOfProducer = kafka.ConfigMap{
	"enable.idempotence":        true,
	"acks":                      "all",
	"go.logs.channel.enable":    true,
	"go.delivery.reports":       true,
	"go.delivery.report.fields": "none",
	"go.batch.producer":         false,
}

// sizes of channels that the client would make for a million entries.
var sizes = kafka.ConfigMap{"go.events.channel.size": 100, "go.produce.channel.size": 1}

// elsewhereOfProducer are settings that have a place of their own, or another name, with what
// to do instead.
var elsewhereOfProducer = map[string]string{
	"bootstrap.servers":       "use Producer.Brokers",
	"metadata.broker.list":    "use Producer.Brokers",
	"transactional.id":        "use Producer.TransactionalID",
	"default.topic.config":    "name the settings one by one",
	"request.required.acks":   "the relay deletes a row when all in-sync replicas have it",
	"delivery.timeout.ms":     "write message.timeout.ms",
	"queue.buffering.max.ms":  "write linger.ms",
	"go.events.channel.size":  "the relay reads the client's events",
	"go.produce.channel.size": "the relay calls the client",
	"go.logs.channel":         "use Producer.Logger",
}

// usualOfProducer are defaults of ours, which Config may change. An aggregate's next record waits
// for the acknowledgement of the one before it, so that the client must not linger. A topic that
// does not exist is an answer, not something to wait half a minute for.
var usualOfProducer = kafka.ConfigMap{
	"partitioner":                        "murmur2_random",
	"linger.ms":                          1,
	"message.timeout.ms":                 30_000,
	"topic.metadata.propagation.max.ms":  5_000,
	"topic.metadata.refresh.interval.ms": 30_000,
}

// settings returns the client's settings, or an error that names every one refused.
func (p *Producer) settings() (*kafka.ConfigMap, error) {
	var errs []error
	if p.Brokers == "" {
		errs = append(errs, errors.New("confluent: Producer.Brokers is empty"))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Config)) {
		if why := p.refused(name); why != "" {
			errs = append(errs, fmt.Errorf("confluent: Producer.Config: %s cannot be set: %s", name, why))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	config := kafka.ConfigMap{}
	for _, m := range []kafka.ConfigMap{usualOfProducer, p.Config, sizes, fixedOfProducer} {
		maps.Copy(config, m)
	}
	config["bootstrap.servers"] = p.Brokers
	if p.TransactionalID != "" {
		config["transactional.id"] = p.TransactionalID
	}
	return &config, nil
}

// refused says why Producer.Config may not hold a setting; "" if it may.
func (p *Producer) refused(name string) string {
	value := p.Config[name]
	name = strings.TrimPrefix(name, "{topic}.")
	if v, ok := fixedOfProducer[name]; ok {
		return fmt.Sprintf("the relay's promise needs it to be %v", v)
	}
	if name == "partitioner" && fmt.Sprint(value) == "random" {
		return "records of one key must go to one partition, or readers see them in any order"
	}
	return elsewhereOfProducer[name]
}

// Open implements [outbox.Producer]. With a TransactionalID it waits until what an earlier
// sender had on its way is ended.
func (p *Producer) Open(ctx context.Context) (outbox.Sender, error) {
	config, err := p.settings()
	if err != nil {
		return nil, err
	}
	logger := p.Logger
	if logger == nil {
		logger = slog.Default()
	}
	s := &sender{
		config: config, transactionalID: p.TransactionalID, refused: map[string]bool{},
		log: &clientLog{Logger: logger, brokers: p.Brokers, logged: map[kafka.ErrorCode]time.Time{}},
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

var _ outbox.Producer = (*Producer)(nil)
