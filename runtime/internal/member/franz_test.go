package member_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/franz/producer"
	"github.com/idemgen/idemgen/runtime/idem"
)

func init() {
	clients = append(clients, client{
		name: "franz", open: openFranz, revokes: ": calling onRevoke at the end of a session", memory: 2 << 20, takes: 1,
		drain:   drainFranz,
		refused: "dial 127.0.0.1:1: connect: connection refused",
		send: func(t testing.TB, brokers string, l login) sender {
			p, err := producer.New(brokers, append(l.franz(), kgo.RecordDeliveryTimeout(cmp.Or(l.patience, 10*time.Second)))...)
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
	})
}

func openFranz(s *source) idem.Source {
	options := s.login.franz()
	if s.protocol == classic {
		options = append(options, kgo.SessionTimeout(s.session), kgo.HeartbeatInterval(200*time.Millisecond))
	} else {
		options = append(options, kgo.ServerSideBalancer())
	}
	if s.instance != "" {
		options = append(options, kgo.InstanceID(s.instance))
	}
	if s.metadata != 0 {
		options = append(options, kgo.MetadataMaxAge(s.metadata), kgo.MetadataMinAge(s.metadata/2))
	}
	return &franz.Source{Brokers: s.Brokers, Options: options, Logger: s.Logger}
}

func drainFranz(t testing.TB, brokers string, records int) {
	from := map[int32]kgo.Offset{}
	for p := range int32(drained) {
		from[p] = kgo.NewOffset().AtStart()
	}
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topicName: from}),
		kgo.FetchMaxBytes(2<<20), kgo.FetchMaxPartitionBytes(128<<10), kgo.FetchMaxWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for n := 0; n < records; {
		n += c.PollRecords(t.Context(), 100).NumRecords()
	}
}
