package producer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/kit/fakebroker"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// What is given up is reported, and a producer goes on with another client. Options that the
// outbox rests on are refused.
func TestProducerOutlivesItsClient(t *testing.T) {
	t.Parallel()
	broker := idemtest.Kafka(t, map[string]int32{"users": 1})
	away, err := New("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(broker.Addr(), kgo.ProducerLinger(0))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	send := func(p *Producer, topic string) <-chan error {
		done := make(chan error, 1)
		p.Produce(outbox.Record{Topic: topic, Key: []byte("k")}, func(err error) { done <- err })
		return done
	}
	given := send(away, "users")
	away.Purge()
	if err := <-given; err == nil {
		t.Error("a record that was given up is acknowledged")
	}
	for range 2 {
		if err := <-send(p, "users"); err != nil {
			t.Error(err)
		}
		p.Purge()
	}
	away.Close()
	if err := <-send(away, "users"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a producer that is closed: %v", err)
	}
	for name, option := range map[string]kgo.Opt{
		"kgo.RequiredAcks": kgo.RequiredAcks(kgo.LeaderAck()), "kgo.DisableIdempotentWrite": kgo.DisableIdempotentWrite(),
		"kgo.SeedBrokers": kgo.SeedBrokers("b"), "kgo.ManualFlushing": kgo.ManualFlushing(),
	} {
		options := []kgo.Opt{option}
		if name == "kgo.RequiredAcks" { // which the client itself refuses beside idempotent writes
			options = append(options, kgo.DisableIdempotentWrite())
		}
		if _, err := New("127.0.0.1:1", options...); err == nil || !strings.Contains(err.Error(), name+" cannot be set") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(""); err == nil {
		t.Error("without brokers")
	}
}

// A record that is dropped because its topic was found missing is rejected as such: the broker is
// not away.
func TestRecordOfATopicThatIsForgotten(t *testing.T) {
	t.Parallel()
	broker := idemtest.Kafka(t, map[string]int32{"users": 1})
	p, err := New(broker.Addr(), kgo.ProducerLinger(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	client, err := p.connected()
	if err != nil {
		t.Fatal(err)
	}
	dropped, renewed := make(chan error, 1), make(chan error, 1)
	p.Produce(outbox.Record{Topic: "users"}, func(err error) { dropped <- err })
	p.renew(client, "users", func() { renewed <- nil })
	for _, done := range []chan error{renewed, dropped} {
		select {
		case err := <-done:
			if _, refused := err.(*outbox.RefusedError); done == dropped && !refused {
				t.Errorf("got %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("not within a minute")
		}
	}
}

// A record is rejected as one of a missing topic even if it was produced after the client was told
// to forget the topic, and before it did so.
func TestRecordProducedBeforeItsTopicIsForgotten(t *testing.T) {
	t.Parallel()
	broker := idemtest.Kafka(t, map[string]int32{"users": 1})
	p, err := New(broker.Addr(), kgo.ProducerLinger(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	client, err := p.connected()
	if err != nil {
		t.Fatal(err)
	}
	p.renewed["users"], p.forgets["users"] = []func(){}, 1 // as renew begins
	dropped := make(chan error, 1)
	p.Produce(outbox.Record{Topic: "users"}, func(err error) { dropped <- err })
	client.PurgeTopicsFromProducing("users")
	select {
	case err := <-dropped:
		if _, refused := err.(*outbox.RefusedError); !refused {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("not within a minute")
	}
}

// A broker that is away is told, so that the relay tries again.
func TestBrokerThatIsAwayIsTold(t *testing.T) {
	t.Parallel()
	p, err := New("127.0.0.1:1", kgo.RecordDeliveryTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	done := make(chan error, 1)
	p.Produce(outbox.Record{Topic: "users"}, func(err error) { done <- err })
	select {
	case err := <-done:
		if _, refused := err.(*outbox.RefusedError); err == nil || refused {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("not within a minute")
	}
}

// A right that is granted later is enough: the client that was refused a producer id is replaced.
func TestARightThatIsGrantedLater(t *testing.T) {
	t.Parallel()
	cluster, err := fakebroker.New(kfake.NumBrokers(1), kfake.SeedTopics(1, "users"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	cluster.ControlKey(int16(kmsg.InitProducerID), func(req kmsg.Request) (kmsg.Response, error, bool) {
		r := req.ResponseKind().(*kmsg.InitProducerIDResponse)
		r.ErrorCode = kerr.ClusterAuthorizationFailed.Code
		return r, nil, true
	})
	p, err := New(cluster.ListenAddrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, want := range []error{kerr.ClusterAuthorizationFailed, nil} {
		done := make(chan error, 1)
		p.Produce(outbox.Record{Topic: "users", Key: []byte("k")}, func(err error) { done <- err })
		if err := <-done; !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
