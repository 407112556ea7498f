package producer

import (
	"strings"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

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
