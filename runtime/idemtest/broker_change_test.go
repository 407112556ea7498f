package idemtest

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/wire"
)

func TestBrokerBehindAProxyTellsItsAddress(t *testing.T) {
	var proxy *cutproxy.Proxy
	b, err := StartBrokerWith(map[string]int32{"a": 1}, BrokerOptions{Front: func(address string) (string, error) {
		var err error
		proxy, err = cutproxy.New("tcp", address)
		return proxy.Addr().String(), err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	defer b.Close()
	if err := b.Produce(t.Context(), &wire.Message{Topic: "a", Value: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	cut := proxy.Once(cutproxy.Rule{Direction: cutproxy.Down, After: 1})
	consume(t, b, 1, kgo.ConsumeTopics("a")) // the client goes on after the cut
	select {
	case <-cut:
	default:
		t.Error("the client went past the proxy")
	}
}

func TestTopicMadeAgainIsEmptyAndTakesRecords(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 2})
	send := func() {
		t.Helper()
		if err := b.Produce(t.Context(), &wire.Message{Topic: "a", Value: []byte("1")}); err != nil {
			t.Fatal(err)
		}
	}
	send()
	before := b.cluster.TopicInfo("a").TopicID
	if err := b.Recreate("a"); err != nil {
		t.Fatal(err)
	}
	if ends := b.Ends("a"); len(ends) != 2 || ends[0] != 0 {
		t.Errorf("the new topic ends at %v", ends)
	}
	if b.cluster.TopicInfo("a").TopicID == before {
		t.Error("the topic kept its id")
	}
	send()
	if err := b.CreatePartitions(t.Context(), "a", 3); err != nil {
		t.Fatal(err)
	}
	if err := b.Produce(t.Context(), &wire.Message{Topic: "a", Partition: 2, Value: []byte("1")}); err != nil {
		t.Errorf("to the new partition: %v", err)
	}
}

func TestAbortedTransactionsAreNotSeen(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 1})
	for i, commit := range []bool{true, false, true} {
		m := &wire.Message{Topic: "a", Value: []byte{byte('0' + i)}}
		if err := b.ProduceTransaction(t.Context(), commit, m); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for _, r := range consume(t, b, 2, kgo.ConsumeTopics("a"), kgo.FetchIsolationLevel(kgo.ReadCommitted())) {
		got += string(r.Value)
	}
	if got != "02" {
		t.Errorf("seen %q", got)
	}
}

func TestRequestsFailAsOftenAsAsked(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 1})
	failed := b.Fail(Failure{Requests: []int16{8}, Error: 22, Times: 2})
	for i := range 3 {
		err := b.Commit(t.Context(), "g", "a", []int64{1})
		if (err != nil) != (i < 2) {
			t.Errorf("commit %d: %v", i, err)
		}
	}
	if failed() != 2 {
		t.Errorf("%d requests failed", failed())
	}
}

func TestExpelledMembersAreGone(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 1})
	if err := b.Produce(t.Context(), &wire.Message{Topic: "a", Value: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("a"), kgo.ClientID("c"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseAllowingRebalance()
	client.PollFetches(t.Context())
	members := func() int { return len(b.cluster.GroupInfo("g").Members) }
	if err := b.Expel(t.Context(), "g", "another"); err != nil || members() != 1 {
		t.Errorf("%d members, %v", members(), err)
	}
	if err := b.Expel(t.Context(), "g", "c"); err != nil || members() != 0 {
		t.Errorf("%d members, %v", members(), err)
	}
}

func TestGroupsTellWhoSharesPartitionsOut(t *testing.T) {
	b := Kafka(t, map[string]int32{"a": 1})
	if err := b.Produce(t.Context(), &wire.Message{Topic: "a"}); err != nil {
		t.Fatal(err)
	}
	for group, want := range map[string]bool{"classic": false, "consumer": true} {
		options := []kgo.Opt{kgo.SeedBrokers(b.Addr()), kgo.ConsumerGroup(group), kgo.ConsumeTopics("a")}
		if want {
			options = append(options, kgo.ServerSideBalancer())
		}
		client, err := kgo.NewClient(options...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseAllowingRebalance()
		client.PollFetches(t.Context())
		if got, err := b.ServerSide(t.Context(), group); err != nil || got != want {
			t.Errorf("group %s: %v, %v", group, got, err)
		}
	}
}

// A topic that is missing is made for a client that does not ask for that.
func TestMissingTopicIsMade(t *testing.T) {
	b, err := StartBrokerWith(nil, BrokerOptions{Missing: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "b", Value: []byte("1")}).FirstErr(); err != nil {
		t.Error(err)
	}
	if ends := b.Ends("b"); len(ends) != 3 {
		t.Errorf("the topic has partitions that end at %v, want 3", ends)
	}
	if err := b.Produce(t.Context(), &wire.Message{Topic: "b", Partition: 2}); err != nil {
		t.Error(err)
	}
	if err := b.CreatePartitions(t.Context(), "b", 4); err != nil {
		t.Error(err)
	}
	if err := b.Produce(t.Context(), &wire.Message{Topic: "b", Partition: 3}); err != nil {
		t.Error(err)
	}
}
