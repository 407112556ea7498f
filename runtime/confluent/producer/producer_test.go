package producer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/idemgen/idemgen/internal/kit/fakebroker"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A producer whose client failed for good goes on with another one, and settings that the outbox
// rests on are refused.
func TestProducerOutlivesItsClient(t *testing.T) {
	t.Parallel()
	brokers := idemtest.Kafka(t, map[string]int32{"users": 1}).Addr()
	p, err := New(brokers, kafka.ConfigMap{"linger.ms": 0})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	client, _ := p.connected()
	client.TestFatalError(kafka.ErrOutOfOrderSequenceNumber, "for the test")
	for end := time.Now().Add(time.Minute); ; {
		done := make(chan error, 1)
		p.Produce(outbox.Record{Topic: "users", Key: []byte("k")}, func(err error) { done <- err })
		err := <-done
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]any{"acks": 1, "enable.idempotence": false, "bootstrap.servers": "b", "transactional.id": "t", "metadata.broker.list": "b", "request.required.acks": 1} {
		if _, err := New(brokers, kafka.ConfigMap{name: value}); err == nil || !strings.Contains(err.Error(), name+" cannot be set") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, err := New(brokers, kafka.ConfigMap{"linger.ms": "soon"}); err == nil || p != nil {
		t.Errorf("a setting that librdkafka rejects: %v, %v", p, err)
	}
	if _, err := New("", nil); err == nil {
		t.Error("without brokers")
	}
}

// A missing topic is reported, also where brokers would create it. The setting that the user chose
// by another name holds.
func TestAMissingTopicIsNotCreated(t *testing.T) {
	t.Parallel()
	cluster, err := fakebroker.New(kfake.NumBrokers(1), kfake.AllowAutoTopicCreation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	p, err := New(cluster.ListenAddrs()[0], kafka.ConfigMap{"delivery.timeout.ms": 30_000})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, ours := (*p.config)["message.timeout.ms"]; ours {
		t.Error("message.timeout.ms is set twice")
	}
	done := make(chan error, 1)
	p.Produce(outbox.Record{Topic: "userz", Key: []byte("k")}, func(err error) { done <- err })
	if refused, ok := errors.AsType[*outbox.RefusedError](<-done); !ok || refused.Cause != outbox.NoTopic {
		t.Errorf("got %v", refused)
	}
}
