package confluent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
)

func sentRecord(key, value string) outbox.Record {
	return outbox.Record{Topic: topicName, Key: []byte(key), Value: []byte(value)}
}

// opened is a sender, which the test's end closes.
func opened(t testing.TB, p *Producer) outbox.Sender {
	t.Helper()
	if p.Logger == nil {
		p.Logger = textLogger(&testLog{})
	}
	s, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// committedRecords are the records in a topic, as readers with read_committed see them.
func committedRecords(t testing.TB, brokers, topic string, n int) (all []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for len(all) < n && ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) { all = append(all, r) })
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // and no more
	defer cancel()
	client.PollFetches(short).EachRecord(func(r *kgo.Record) { all = append(all, r) })
	return all
}

func values(all []*kgo.Record) (of []string) {
	for _, r := range all {
		of = append(of, string(r.Value))
	}
	return of
}

// limitRecords has a topic take records of so many bytes at most.
func limitRecords(t testing.TB, brokers, topic, bytes string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	of := kmsg.NewIncrementalAlterConfigsRequestResource()
	of.ResourceType, of.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Value = "max.message.bytes", &bytes
	of.Configs = append(of.Configs, c)
	request.Resources = append(request.Resources, of)
	answer, err := request.RequestWith(t.Context(), client)
	if err != nil || answer.Resources[0].ErrorCode != 0 {
		t.Fatal(err, answer)
	}
}

// both runs a test with and without transactions.
func both(t *testing.T, test func(t *testing.T, id string)) {
	for name, id := range map[string]string{"plain": "", "transactional": "relay"} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, id) })
	}
}

// A record keeps key, headers and value; a tombstone has no value, an empty value is one. Its
// partition is that of Java producers.
func TestProducerWritesRecords(t *testing.T) {
	both(t, func(t *testing.T, id string) {
		broker := idemtest.Kafka(t, map[string]int32{topicName: 16})
		s := opened(t, &Producer{Brokers: broker.Addr(), TransactionalID: id})
		want := map[string]int32{}
		var records []outbox.Record
		for _, key := range []string{"a", "b", "order-1"} {
			m := &wire.Message{Topic: topicName, Partition: idemtest.ByKey, Key: []byte(key), Value: []byte("by the kit")}
			if err := broker.Produce(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			want[key] = m.Partition
			r := sentRecord(key, "value of "+key)
			r.Headers = []wire.Header{{Name: "Idempotency-Key", Value: []byte("id")}, {Name: "event-type", Value: []byte("T")}, {Name: "empty", Value: []byte{}}}
			records = append(records, r)
		}
		records[1].Value, records[2].Value = nil, []byte{}
		for i, err := range s.Send(t.Context(), records) {
			if err != nil {
				t.Errorf("record %d: %v", i, err)
			}
		}
		n := 0
		for _, r := range committedRecords(t, broker.Addr(), topicName, 6) {
			if string(r.Value) == "by the kit" {
				continue
			}
			n++
			if r.Partition != want[string(r.Key)] {
				t.Errorf("key %s is in partition %d, a Java producer has %d", r.Key, r.Partition, want[string(r.Key)])
			}
			if got := fmt.Sprint(r.Headers); got != fmt.Sprint([]kgo.RecordHeader{{Key: "Idempotency-Key", Value: []byte("id")}, {Key: "event-type", Value: []byte("T")}, {Key: "empty", Value: []byte{}}}) {
				t.Errorf("headers %s", got)
			}
			switch string(r.Key) {
			case "a":
				if string(r.Value) != "value of a" {
					t.Errorf("value %q", r.Value)
				}
			case "b":
				if r.Value != nil {
					t.Errorf("a tombstone has value %q", r.Value)
				}
			default:
				if r.Value == nil || len(r.Value) != 0 {
					t.Errorf("an empty value became %v", r.Value)
				}
			}
		}
		if n != 3 {
			t.Errorf("%d records", n)
		}
	})
}

// answersOf are the answers: "" for taken, "record" or "topic" for refused, else the error.
func answersOf(errs []error) (all []string) {
	for _, err := range errs {
		refused, ok := errors.AsType[*outbox.RefusedError](err)
		switch {
		case err == nil:
			all = append(all, "")
		case ok && refused.Topic:
			all = append(all, "topic")
		case ok:
			all = append(all, "record")
		default:
			all = append(all, err.Error())
		}
	}
	return all
}

// A record that the client or the broker finds too large is refused, and holds back the next one
// of its aggregate. Others are taken; in a transaction nothing is.
func TestProducerTellsRefusedRecords(t *testing.T) {
	both(t, func(t *testing.T, id string) {
		broker := idemtest.Kafka(t, map[string]int32{topicName: 1})
		s := opened(t, &Producer{Brokers: broker.Addr(), TransactionalID: id, Config: kafka.ConfigMap{"message.max.bytes": 10_000, "linger.ms": 0}})
		held := outbox.ErrHeldBack.Error()
		got := answersOf(s.Send(t.Context(), []outbox.Record{sentRecord("a", strings.Repeat("x", 20_000)), sentRecord("a", "2"), sentRecord("b", "3")}))
		want := []string{"record", held, ""}
		if id != "" {
			want = []string{"record", held, held}
		}
		if !slices.Equal(got[:1], want[:1]) || id == "" && !slices.Equal(got, want) || id != "" && slices.Contains(got, "") {
			t.Errorf("too large for the client: %q, want %q", got, want)
		}
		limitRecords(t, broker.Addr(), topicName, "1000")
		got = answersOf(s.Send(t.Context(), []outbox.Record{sentRecord("c", strings.Repeat("x", 5_000))}))
		if !slices.Equal(got, []string{"record"}) {
			t.Errorf("too large for the topic: %q", got)
		}
		got = answersOf(s.Send(t.Context(), []outbox.Record{sentRecord("c", "4"), sentRecord("c", "5")}))
		if !slices.Equal(got, []string{"", ""}) {
			t.Errorf("behind it: %q", got)
		}
		seen := []string{"3", "4", "5"}
		if id != "" {
			seen = seen[1:]
		}
		if all := values(committedRecords(t, broker.Addr(), topicName, len(seen))); !slices.Equal(all, seen) {
			t.Errorf("the topic has %q, want %q", all, seen)
		}
	})
}

// A topic that does not exist, or may not be written, is told from a record that is at fault.
func TestProducerTellsRefusedTopics(t *testing.T) {
	both(t, func(t *testing.T, id string) {
		broker := idemtest.Kafka(t, map[string]int32{topicName: 1})
		s := opened(t, &Producer{Brokers: broker.Addr(), TransactionalID: id, Config: kafka.ConfigMap{"topic.metadata.propagation.max.ms": 300}})
		none := sentRecord("a", "1")
		none.Topic = "none"
		for range 2 {
			if got := answersOf(s.Send(t.Context(), []outbox.Record{none})); !slices.Equal(got, []string{"topic"}) {
				t.Errorf("topic that does not exist: %q", got)
			}
		}
		broker.Fail(idemtest.Failure{Requests: []int16{0}, Error: 29})
		if got := answersOf(s.Send(t.Context(), []outbox.Record{sentRecord("a", "2")})); !slices.Equal(got, []string{"topic"}) {
			t.Errorf("topic that may not be written: %q", got)
		}
		if got := answersOf(s.Send(t.Context(), []outbox.Record{sentRecord("a", "3")})); !slices.Equal(got, []string{""}) {
			t.Errorf("behind it: %q", got)
		}
	})
}

// Brokers that are away are no fault of a record, and the error says why. Send ends in time, and
// with its context.
func TestProducerTellsAnOutage(t *testing.T) {
	both(t, func(t *testing.T, id string) {
		broker := idemtest.Kafka(t, map[string]int32{topicName: 1})
		s := opened(t, &Producer{Brokers: broker.Addr(), TransactionalID: id, Config: kafka.ConfigMap{"message.timeout.ms": 1500}})
		if got := answersOf(s.Send(t.Context(), []outbox.Record{sentRecord("a", "1")})); !slices.Equal(got, []string{""}) {
			t.Fatalf("%q", got)
		}
		broker.Stop()
		err := s.Send(t.Context(), []outbox.Record{sentRecord("a", "2")})[0]
		if _, refused := errors.AsType[*outbox.RefusedError](err); err == nil || refused || !strings.Contains(err.Error(), "no broker of "+broker.Addr()+" answers: ") {
			if id == "" { // a transaction that cannot be ended is an outage, too, in other words
				t.Errorf("got %v", err)
			}
		}
		if id != "" {
			if !errors.Is(err, outbox.ErrBroken) {
				t.Errorf("a transaction of which nobody knows the end goes on: %v", err)
			}
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begun := time.Now()
		if err := s.Send(ctx, []outbox.Record{sentRecord("a", "3")})[0]; err == nil || time.Since(begun) > time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

// A queue of the client that is full is waited for.
func TestProducerWaitsForTheClientsQueue(t *testing.T) {
	broker := idemtest.Kafka(t, map[string]int32{topicName: 1})
	s := opened(t, &Producer{Brokers: broker.Addr(), Config: kafka.ConfigMap{"queue.buffering.max.messages": 2}})
	var records []outbox.Record
	for i := range 20 {
		records = append(records, sentRecord(fmt.Sprint(i), "v"))
	}
	for i, err := range s.Send(t.Context(), records) {
		if err != nil {
			t.Errorf("record %d: %v", i, err)
		}
	}
}

// Who begins to send with the same transactional id ends what the one before has on its way, and
// that one can send no more.
func TestTransactionalIDFencesAnOlderSender(t *testing.T) {
	broker := idemtest.Kafka(t, map[string]int32{topicName: 1})
	p := &Producer{Brokers: broker.Addr(), TransactionalID: "relay"}
	older := opened(t, p)
	if err := older.Send(t.Context(), []outbox.Record{sentRecord("a", "1")})[0]; err != nil {
		t.Fatal(err)
	}
	newer := opened(t, p)
	if err := newer.Send(t.Context(), []outbox.Record{sentRecord("a", "2")})[0]; err != nil {
		t.Fatal(err)
	}
	err := older.Send(t.Context(), []outbox.Record{sentRecord("a", "late")})[0]
	if !errors.Is(err, outbox.ErrBroken) || !strings.Contains(err.Error(), `TransactionalID "relay"`) {
		t.Errorf("got %v", err)
	}
	if err := newer.Send(t.Context(), []outbox.Record{sentRecord("a", "3")})[0]; err != nil {
		t.Fatal(err)
	}
	if got := values(committedRecords(t, broker.Addr(), topicName, 3)); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("%q", got)
	}
}

// Settings on which the promise rests are refused by name.
func TestProducerSettings(t *testing.T) {
	p := &Producer{Config: kafka.ConfigMap{
		"acks": 1, "enable.idempotence": false, "transactional.id": "x", "{topic}.partitioner": "random", "delivery.timeout.ms": 5, "client.id": "fine",
	}}
	_, err := p.settings()
	for _, want := range []string{
		"Producer.Brokers is empty", "acks cannot be set: the relay's promise needs it to be all", "enable.idempotence cannot be set",
		"transactional.id cannot be set: use Producer.TransactionalID", "{topic}.partitioner cannot be set: records of one key", "write message.timeout.ms",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "client.id") {
		t.Error(err)
	}
	p = &Producer{Brokers: "x:1", TransactionalID: "id", Config: kafka.ConfigMap{"partitioner": "consistent_random"}}
	config, err := p.settings()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"acks": "all", "enable.idempotence": true, "transactional.id": "id", "partitioner": "consistent_random"} {
		if (*config)[name] != want {
			t.Errorf("%s is %v", name, (*config)[name])
		}
	}
}

func makeTopic(t testing.TB, brokers, topic string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	request := kmsg.NewPtrCreateTopicsRequest()
	of := kmsg.NewCreateTopicsRequestTopic()
	of.Topic, of.NumPartitions, of.ReplicationFactor = topic, 1, 1
	request.Topics, request.TimeoutMillis = append(request.Topics, of), 5000
	answer, err := request.RequestWith(t.Context(), client)
	if err != nil || answer.Topics[0].ErrorCode != 0 {
		t.Fatal(err, answer)
	}
}
