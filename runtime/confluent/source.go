// Package confluent reads Kafka for an [idem.Consumer] through confluent-kafka-go. Only this
// package and the packages below it import that client, so only they need cgo. The package knows
// nothing about the database: only the [idem.Sink] knows the outcome of a record, and where a
// partition is read from.
//
// One goroutine polls the client. Package member contains what a member of a group does with any
// client.
package confluent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/member"
)

// Source reads the topics of one consumer group. Its zero value needs Brokers only.
type Source struct {
	// Brokers is where the client starts: "host:port,host:port".
	Brokers string
	// Config holds further settings of the client, under librdkafka's names: security,
	// session.timeout.ms, client.id, queue sizes. Run returns an error that names each setting
	// that would break the exactly-once guarantee. group.protocol may be "classic", the default,
	// or "consumer" (KIP-848, brokers from 4.0 on), which takes its session settings from the
	// broker.
	Config kafka.ConfigMap
	// Logger receives a line per change of the group or of the brokers' state, and what the client
	// itself logs. Nil means slog.Default().
	Logger *slog.Logger
}

// Run implements [idem.Source]. It logs that a broker is unreachable or that a topic does not
// exist yet, and waits. It returns an error if a setting is rejected, or if the client fails
// permanently.
func (s *Source) Run(ctx context.Context, sub idem.Subscription, sink idem.Sink) error {
	config, err := s.settings(sub, member.PaceOf(ctx).Compare)
	if err != nil {
		return err
	}
	lines := make(chan kafka.LogEvent, 100) // the client's own would hold 10,000, which is 1 MB
	(*config)["go.logs.channel"] = lines
	client, err := kafka.NewConsumer(config)
	if err != nil {
		return fmt.Errorf("confluent: %w", err)
	}
	r, err := newRun(ctx, s, sub, sink, config, client, lines)
	if err != nil {
		return errors.Join(err, client.Close())
	}
	go r.log.Forward(ctx, lines)
	err = r.poll()
	return errors.Join(err, r.member.Leave())
}

var _ idem.Source = (*Source)(nil)
