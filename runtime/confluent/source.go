// Package confluent reads Kafka for an [idem.Consumer] through confluent-kafka-go. It and
// the packages below it are the only ones that import that client, and so the only ones that need
// cgo. It knows nothing of the database: what became of a record, and where a partition
// is read from, only the [idem.Sink] says.
//
// One goroutine polls the client. What a member of a group does whatever its client is, is in
// package member.
package confluent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/internal/member"
)

// Source reads the topics of one consumer group. Its zero value needs Brokers only.
type Source struct {
	// Brokers is where the client starts: "host:port,host:port".
	Brokers string
	// Config holds more settings of the client, under librdkafka's names: security,
	// session.timeout.ms, client.id, sizes of queues. Settings that the guarantee rests on
	// are refused by name. group.protocol may be "classic", the default, or "consumer"
	// (KIP-848, brokers from 4.0 on), which takes its session settings from the broker.
	Config kafka.ConfigMap
	// Logger gets a line per change of the group or of the brokers' state, and what the
	// client itself logs. Nil means slog.Default().
	Logger *slog.Logger
}

// Run implements [idem.Source]. An unreachable broker, or a topic that does not exist yet,
// is logged and waited for. Run returns an error for a setting that is refused, and for an
// error after which the client cannot go on.
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
