package idemtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/wire"
)

// consume reads n records of a topic.
func consume(t *testing.T, b *Broker, n int, options ...kgo.Opt) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(b.Addr()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var records []*kgo.Record
	for len(records) < n {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d of %d records: %v", len(records), n, err)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

func TestProduceKeepsWhatARecordHas(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 2})
	at := time.UnixMilli(1_700_000_000_123)
	sent := []*wire.Message{
		{Topic: "a", Partition: 1, Key: []byte("k"), Value: []byte("v"), Time: at, Headers: []wire.Header{
			{Name: "z", Value: []byte("1")}, {Name: "a", Value: nil}, {Name: "z", Value: []byte{}},
		}},
		{Topic: "a", Partition: 1, Key: nil, Value: nil, Time: at},
		{Topic: "a", Partition: 1, Key: []byte{}, Value: []byte{}, Time: at},
	}
	if err := b.Produce(t.Context(), sent...); err != nil {
		t.Fatal(err)
	}
	for i, r := range consume(t, b, len(sent), kgo.ConsumeTopics("a")) {
		got := &wire.Message{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Key: r.Key, Value: r.Value, Time: r.Timestamp}
		for _, h := range r.Headers {
			got.Headers = append(got.Headers, wire.Header{Name: h.Key, Value: h.Value})
		}
		if !reflect.DeepEqual(got, sent[i]) {
			t.Errorf("record %d: got %+v, want %+v", i, got, sent[i])
		}
		if got.Offset != int64(i) {
			t.Errorf("record %d has offset %d", i, got.Offset)
		}
	}
}

func TestProduceByKey(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 4})
	var sent []*wire.Message
	for i := range 400 {
		sent = append(sent, &wire.Message{Topic: "a", Partition: ByKey, Key: fmt.Append(nil, i%20), Value: fmt.Append(nil, i)})
	}
	if err := b.Produce(t.Context(), sent...); err != nil {
		t.Fatal(err)
	}
	partition := map[string]int32{}
	last := map[int32]int64{0: -1, 1: -1, 2: -1, 3: -1}
	for _, m := range sent {
		if p, ok := partition[string(m.Key)]; ok && p != m.Partition {
			t.Fatalf("key %s is in partitions %d and %d", m.Key, p, m.Partition)
		}
		partition[string(m.Key)] = m.Partition
		if m.Offset != last[m.Partition]+1 {
			t.Fatalf("%s/%d: offset %d after %d", m.Topic, m.Partition, m.Offset, last[m.Partition])
		}
		last[m.Partition] = m.Offset
	}
	ends := b.Ends("a")
	for p, end := range ends {
		if end != last[int32(p)]+1 || end == 0 {
			t.Errorf("partition %d ends at %d, last offset is %d", p, end, last[int32(p)])
		}
	}
}

// The hash is that of Java's producers, with values from Kafka's own tests of murmur2.
func TestProduceByKeyAsJavaDoes(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 1000})
	for key, hash := range map[string]int32{"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536} {
		m := &wire.Message{Topic: "a", Partition: ByKey, Key: []byte(key)}
		if err := b.Produce(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if want := (hash & 0x7fffffff) % 1000; m.Partition != want {
			t.Errorf("key %s is in partition %d, want %d", key, m.Partition, want)
		}
	}
}

// A message without a key has a partition, too, and the same one each time.
func TestProduceWithoutAKey(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 8})
	used := map[int32]bool{}
	for i := range 20 {
		first := &wire.Message{Topic: "a", Partition: ByKey, Value: fmt.Append(nil, i)}
		second := &wire.Message{Topic: "a", Partition: ByKey, Value: fmt.Append(nil, i)}
		if err := b.Produce(t.Context(), first, second, &wire.Message{Topic: "a", Partition: ByKey}); err != nil {
			t.Fatal(err)
		}
		if first.Partition != second.Partition || first.Partition < 0 {
			t.Errorf("a message is in partition %d, and its copy in %d", first.Partition, second.Partition)
		}
		used[first.Partition] = true
	}
	if len(used) < 2 {
		t.Errorf("all messages are in partitions %v", used)
	}
}

func TestProduceRefuses(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 1})
	for name, m := range map[string]*wire.Message{
		"unknown topic":      {Topic: "b"},
		"partition too high": {Topic: "a", Partition: 1},
	} {
		if err := b.Produce(t.Context(), &wire.Message{Topic: "a"}, m); err == nil {
			t.Errorf("%s: produced", name)
		}
	}
	if got := b.Ends("a"); !slices.Equal(got, []int64{0}) {
		t.Errorf("the topic ends at %v: part of a refused call was produced", got)
	}
}

func TestCommitSetsAGroupBack(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 2})
	for i := range 10 {
		if err := b.Produce(t.Context(), &wire.Message{Topic: "a", Partition: int32(i % 2)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.Committed("g", "a"); !slices.Equal(got, []int64{-1, -1}) {
		t.Errorf("a group that is not there has committed %v", got)
	}
	group := []kgo.Opt{kgo.ConsumerGroup("g"), kgo.ConsumeTopics("a"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}
	consume(t, b, 10, append(group, kgo.AutoCommitMarks())...) // marks nothing: the group exists, without offsets
	if err := b.Commit(t.Context(), "g", "a", []int64{3, 5}); err != nil {
		t.Fatal(err)
	}
	if got := b.Committed("g", "a"); !slices.Equal(got, []int64{3, 5}) {
		t.Errorf("committed %v, want [3 5]", got)
	}
	for _, r := range consume(t, b, 2, group...) {
		if r.Partition != 0 || r.Offset < 3 {
			t.Errorf("read %d/%d again", r.Partition, r.Offset)
		}
	}
}

func TestCommitNeedsAGroupWithoutMembers(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 1})
	if err := b.Produce(t.Context(), &wire.Message{Topic: "a"}); err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("a"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.PollFetches(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context(), "g", "a", []int64{0}); !errors.Is(err, kerr.UnknownMemberID) {
		t.Errorf("got %v", err)
	}
}

func TestDeleteRecords(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 1})
	if err := b.Produce(t.Context(), &wire.Message{Topic: "a"}, &wire.Message{Topic: "a"}, &wire.Message{Topic: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := b.DeleteRecords("a", 0, 2); err != nil {
		t.Fatal(err)
	}
	if r := consume(t, b, 1, kgo.ConsumeTopics("a")); r[0].Offset != 2 {
		t.Errorf("the first record is at %d", r[0].Offset)
	}
}
