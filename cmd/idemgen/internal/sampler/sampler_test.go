package sampler

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/gen/survey"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Each partition gives its newest records, as many as the others unless it has fewer.
func TestASampleIsSpreadOverPartitions(t *testing.T) {
	for _, c := range []struct {
		most         int
		ends, starts []int64
		want         map[int32]int64
	}{
		{6, []int64{100, 100, 100}, []int64{0, 0, 0}, map[int32]int64{0: 98, 1: 98, 2: 98}},
		{10, []int64{100, 1, 0}, []int64{0, 0, 0}, map[int32]int64{0: 91, 1: 0}},
		{10, []int64{100, 100}, []int64{97, 50}, map[int32]int64{0: 97, 1: 93}},
		{100, []int64{5, 7}, []int64{2, 7}, map[int32]int64{0: 2}},
		{1, []int64{5, 5, 5}, []int64{0, 0, 0}, map[int32]int64{0: 4}},
	} {
		starts, ends := map[int32]int64{}, map[int32]int64{}
		for p := range c.ends {
			starts[int32(p)], ends[int32(p)] = c.starts[p], c.ends[p]
		}
		got := spread(starts, ends, c.most)
		sum := int64(0)
		for p, from := range got {
			sum += ends[p] - from
		}
		if len(got) != len(c.want) || sum > int64(c.most) || c.most > 1 && !maps.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The newest records are read, in pieces if they are large, up to the ends at the start; nothing
// is left behind in the cluster.
func TestTheNewestRecordsAreRead(t *testing.T) {
	broker := idemtest.Kafka(t, map[string]int32{"large.v1": 2})
	var all []*idem.Message
	for n := range 40 {
		all = append(all, &idem.Message{Topic: "large.v1", Partition: int32(n % 2), Value: fmt.Appendf(nil, `{"n%d":%q}`, n/20, strings.Repeat("x", 300_000))})
	}
	if err := broker.Produce(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r, err := Of(t.Context(), []kgo.Opt{kgo.SeedBrokers(broker.Addr())}, "large.v1", 20)
	if err != nil || r.Records != 20 || r.Partitions != 2 || len(r.Events[0].Fields) != 1 || r.Events[0].Fields[0].Member != "n1" {
		t.Errorf("%v %+v", err, r)
	}
	if time.Since(began) > patience-time.Second {
		t.Error("it waited for records that were there")
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	n, err := read(t.Context(), client, "large.v1", map[int32]int64{0: 2, 1: 0}, map[int32]int64{0: 5, 1: 1}, func(survey.Record) {})
	if err != nil || n != 4 {
		t.Errorf("%d records up to the ends (%v)", n, err)
	}
	if groups, err := kadm.NewClient(client).ListGroups(t.Context()); err != nil || len(groups) > 0 {
		t.Errorf("groups %v (%v)", groups, err)
	}
}

// Records of a transaction that was aborted are not read, and nothing waits for them.
func TestAbortedRecordsAreNotRead(t *testing.T) {
	broker := idemtest.Kafka(t, map[string]int32{"aborted.v1": 1})
	producer, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.TransactionalID("x"), kgo.DefaultProduceTopic("aborted.v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	if err := producer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := producer.ProduceSync(t.Context(), &kgo.Record{Value: []byte(`{"a":1}`)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := producer.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = Of(t.Context(), []kgo.Opt{kgo.SeedBrokers(broker.Addr())}, "aborted.v1", 20)
	if err == nil || !strings.Contains(err.Error(), "no record was read") || time.Since(began) > patience-time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// The error for a topic that does not exist or is empty has its name. Brokers that do not respond
// are an error, too.
func TestTopicsThatCannotBeSampled(t *testing.T) {
	broker := idemtest.Kafka(t, map[string]int32{"orders.v1": 2})
	opts := []kgo.Opt{kgo.SeedBrokers(broker.Addr())}
	for topic, want := range map[string]string{
		"orders.v2": `the cluster, as this client sees it, has no topic "orders.v2"; did you mean "orders.v1"?`,
		"or ders":   `the cluster, as this client sees it, has no topic "or ders"; topics here: orders.v1`,
		"orders.v1": "topic orders.v1 has no records: there is nothing to learn from it yet",
	} {
		if r, err := Of(t.Context(), opts, topic, 20); r != nil || err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v, want %s", topic, r, err, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Of(ctx, []kgo.Opt{kgo.SeedBrokers("127.0.0.1:1")}, "orders.v1", 20); err == nil || !strings.HasPrefix(err.Error(), "the brokers do not respond: ") {
		t.Error(err)
	}
	if _, err := Of(t.Context(), []kgo.Opt{kgo.SeedBrokers()}, "orders.v1", 20); err == nil {
		t.Error("no brokers are named, and no error says so")
	}
}

// A record is surveyed with its place, its time, and its headers.
func TestWhatIsSurveyedOfARecord(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got := recordOf(&kgo.Record{Partition: 3, Timestamp: at, Key: []byte("k"), Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "b"}}})
	want := survey.Record{Partition: 3, Time: at, Key: []byte("k"), Value: []byte("v"), Headers: []survey.Header{{Name: "a", Value: []byte("1")}, {Name: "b"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
