// Package franz reads Kafka for an [idem.Consumer] through franz-go, a client without cgo: a
// service that uses it builds with CGO_ENABLED=0. It gives the same guarantees as package
// confluent. Package member contains what a member of a group does with any client.
//
// A Source has two clients. One is the member of the group and fetches nothing. The other belongs
// to no group and fetches the partitions that it is given, from the positions that the [idem.Sink]
// returns.
package franz

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Source reads the topics of one consumer group. Its zero value needs Brokers only.
type Source struct {
	// Brokers is where the client starts: "host:port,host:port".
	Brokers string
	// Options are further options of the client: security, kgo.SessionTimeout, kgo.ClientID, fetch
	// sizes. Run returns an error that names each option that would break the exactly-once
	// guarantee. With kgo.ServerSideBalancer the brokers assign the partitions (KIP-848, brokers
	// from 4.0 on), and determine the session timeout.
	Options []kgo.Opt
	// Logger receives a line per change of the group or of the brokers' state, and what the client
	// itself logs. Nil means slog.Default().
	Logger *slog.Logger
}

// Run implements [idem.Source]. It logs that a broker is unreachable or that a topic does not
// exist yet, and waits. It returns an error if an option is rejected.
func (s *Source) Run(ctx context.Context, sub idem.Subscription, sink idem.Sink) error {
	set, err := s.settings(sub)
	if err != nil {
		return err
	}
	// The clients outlive ctx, so that they can leave the group. A sink that does not end does not
	// keep them alive.
	alive, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	r, err := newRun(ctx, alive, s, set, sub, sink)
	if err != nil {
		return err
	}
	r.poll()
	return r.member.Leave()
}

var _ idem.Source = (*Source)(nil)
