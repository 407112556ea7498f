// Package client makes the Kafka client of the fault kit's processes, as their environment asks
// for it. Without cgo there is one client only, franz-go.
//
// It must not import any package of this module but runtime/idem, runtime/outbox,
// runtime/confluent, runtime/confluent/producer, runtime/franz, runtime/franz/producer and script.
package client

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/franz/producer"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/scripts/internal/script"
)

// settings are what a process is told about its client.
type settings struct {
	brokers, id, protocol string
	session               time.Duration
}

// library is a Kafka client.
type library struct {
	source func(settings) idem.Source
	sender func(brokers string) (Sender, error)
}

// Sender is the producer of a relay.
type Sender interface {
	outbox.Producer
	Close()
}

// clients are the clients that this program was built with, by their names.
var clients = map[string]library{"franz": {withFranz, func(brokers string) (Sender, error) { return producer.New(brokers) }}}

// usual is the client of a process that is not told which one.
var usual = "franz"

// asked is the client that [script.Library] names.
func asked() (library, error) {
	name := cmp.Or(os.Getenv(script.Library), usual)
	l, ok := clients[name]
	if !ok {
		return l, fmt.Errorf("%s: no Kafka client %q in this program, only %q", script.Library, name, slices.Sorted(maps.Keys(clients)))
	}
	return l, nil
}

// Source returns the source of the client that is asked for. By default the group misses a process
// soon.
func Source() (idem.Source, error) {
	l, err := asked()
	if err != nil {
		return nil, err
	}
	session, err := strconv.Atoi(cmp.Or(os.Getenv(script.Session), "1500"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", script.Session, err)
	}
	return l.source(settings{
		brokers: os.Getenv(script.Brokers), id: cmp.Or(os.Getenv(script.Client), "service"),
		protocol: cmp.Or(os.Getenv(script.Protocol), script.Classic), session: time.Duration(session) * time.Millisecond,
	}), nil
}

// NewSender returns the producer of the client that is asked for.
func NewSender() (Sender, error) {
	l, err := asked()
	if err != nil {
		return nil, err
	}
	return l.sender(os.Getenv(script.Brokers))
}

func withFranz(s settings) idem.Source {
	all := []kgo.Opt{kgo.ClientID(s.id), kgo.MetadataMaxAge(2 * time.Second), kgo.MetadataMinAge(time.Second), kgo.RequestTimeoutOverhead(5 * time.Second)}
	if s.protocol == script.Classic { // otherwise the broker decides when it misses a process
		all = append(all, kgo.SessionTimeout(s.session), kgo.HeartbeatInterval(s.session/5))
	} else {
		all = append(all, kgo.ServerSideBalancer())
	}
	return &franz.Source{Brokers: s.brokers, Options: all}
}
