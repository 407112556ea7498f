// Package confluent reads Kafka for an [idem.Consumer] through confluent-kafka-go. It and
// the packages below it are the only ones that import that client, and so the only ones that need
// cgo. It knows nothing of the database: what became of a record, and where a partition
// is read from, only the [idem.Sink] says.
//
// One goroutine polls the client and is the only one that assigns, seeks, pauses and
// resumes. Every assigned partition has a goroutine of its own, which calls the sink. What is
// between the two is in package intake, which knows no client.
package confluent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
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

	pace *pace // tests shorten it; nil is the usual one
}

// pace is how long things take that depend on nobody's settings.
type pace struct {
	assign     time.Duration // a rebalance waits so long for partitions to be taken over
	request    time.Duration // one question to the broker, and for the sink to end
	backoff    time.Duration // first pause after a failed take-over
	maxBackoff time.Duration // longest pause; they are doubled
	idle       time.Duration // without a record, after which the sink is asked whether all is as it was
	commit     time.Duration // between commits of offsets
	compare    time.Duration // between comparisons of topics with the broker
	silence    time.Duration // a partition without records for so long is compared with its log
	close      time.Duration // for closing the client
}

var usualPace = pace{
	assign: 10 * time.Second, request: 5 * time.Second,
	backoff: 250 * time.Millisecond, maxBackoff: 10 * time.Second, idle: 5 * time.Second,
	commit: 5 * time.Second, compare: 5 * time.Second, silence: 30 * time.Second, close: 10 * time.Second,
}

func (s *Source) paces() pace {
	if s.pace != nil {
		return *s.pace
	}
	return usualPace
}

// Run implements [idem.Source]. An unreachable broker, or a topic that does not exist yet,
// is logged and waited for. Run returns an error for a setting that is refused, and for an
// error after which the client cannot go on.
func (s *Source) Run(ctx context.Context, sub idem.Subscription, sink idem.Sink) error {
	config, err := s.settings(sub)
	if err != nil {
		return err
	}
	lines := make(chan kafka.LogEvent, 100) // the client's own would hold 10,000, which is 1 MB
	(*config)["go.logs.channel"] = lines
	client, err := kafka.NewConsumer(config)
	if err != nil {
		return fmt.Errorf("confluent: %w", err)
	}
	r := newRun(ctx, s, sub, sink, client)
	go r.log.Forward(ctx, lines)
	err = r.poll()
	return errors.Join(err, r.leaveGroup(lines))
}

var _ idem.Source = (*Source)(nil)
