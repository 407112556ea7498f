package idemtest

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/wire"
)

// A broker that was stopped comes back at its address with topic, records and offsets, and
// takes more records.
func TestStoppedBrokerComesBackWithItsLog(t *testing.T) {
	b, err := StartBrokerWith(map[string]int32{"a": 2}, BrokerOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	send := func(value string) {
		t.Helper()
		if err := b.Produce(t.Context(), &wire.Message{Topic: "a", Partition: 1, Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
	}
	send("0")
	send("1")
	if err := b.Commit(t.Context(), "g", "a", []int64{-1, 1}); err != nil {
		t.Fatal(err)
	}
	address, id := b.Addr(), b.cluster.TopicInfo("a").TopicID
	b.Stop()
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("the stopped broker listens")
	}
	if b.Ends("a") != nil || b.DeleteRecords("a", 1, 1) == nil {
		t.Error("the stopped broker answers")
	}
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	if b.Addr() != address || b.cluster.TopicInfo("a").TopicID != id {
		t.Error("another address, or another topic")
	}
	send("2")
	if ends, committed := b.Ends("a"), b.Committed("g", "a"); !slices.Equal(ends, []int64{0, 3}) || !slices.Equal(committed, []int64{-1, 1}) {
		t.Errorf("it ends at %v, committed are %v", ends, committed)
	}
	for i, r := range consume(t, b, 3, kgo.ConsumeTopics("a")) {
		if string(r.Value) != fmt.Sprint(i) {
			t.Errorf("record %d is %q", i, r.Value)
		}
	}
}

// Without a folder it forgets: a test that wants the log must ask for it.
func TestStoppedBrokerWithoutAFolderForgets(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 1})
	if err := b.Produce(t.Context(), &wire.Message{Topic: "a"}); err != nil {
		t.Fatal(err)
	}
	b.Stop()
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	if ends := b.Ends("a"); !slices.Equal(ends, []int64{0}) {
		t.Errorf("it ends at %v", ends)
	}
}
