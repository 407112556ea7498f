// Package franz reads Kafka for an [idem.Consumer] through franz-go, a client without cgo: a
// service that uses it builds with CGO_ENABLED=0. It promises what package confluent does. What a
// member of a group does whatever its client is, is in package member.
//
// A Source has two clients. One is the member of the group and fetches nothing; the other fetches
// what it is told, from where the [idem.Sink] says, and knows of no group.
package franz

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"

	idem "github.com/idemgen/idemgen/runtime"
)

// Source reads the topics of one consumer group. Its zero value needs Brokers only.
type Source struct {
	// Brokers is where the client starts: "host:port,host:port".
	Brokers string
	// Options are more options of the client: security, kgo.SessionTimeout, kgo.ClientID, sizes of
	// fetches. Those that the guarantee rests on are refused by name. With kgo.ServerSideBalancer
	// the brokers share partitions out (KIP-848, brokers from 4.0 on), and say how long a session
	// is.
	Options []kgo.Opt
	// Logger gets a line per change of the group or of the brokers' state, and what the
	// client itself logs. Nil means slog.Default().
	Logger *slog.Logger
}

// Run implements [idem.Source]. An unreachable broker, or a topic that does not exist yet,
// is logged and waited for. Run returns an error for an option that is refused.
func (s *Source) Run(ctx context.Context, sub idem.Subscription, sink idem.Sink) error {
	set, err := s.settings(sub)
	if err != nil {
		return err
	}
	// The clients outlive ctx, to leave the group. A sink that does not end does not keep them.
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
