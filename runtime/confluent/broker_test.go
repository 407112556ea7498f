package confluent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/kit/fakebroker"
	"github.com/idemgen/idemgen/runtime/idem"
)

var (
	first  = idem.Partition{Topic: "orders.v1"}
	second = idem.Partition{Topic: "orders.v1", Number: 1}
)

// asks returns a broker in memory, and what queries it. The broker has a topic of two partitions,
// whose first one has the records 1 and 2, and two more of an open transaction.
func asks(t *testing.T) (*kfake.Cluster, *broker) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cluster, err := fakebroker.New(kfake.NumBrokers(1), kfake.SeedTopics(2, first.Topic))
	must(err)
	t.Cleanup(cluster.Close)
	end, err := fakebroker.OpenLog(t.Context(), cluster, first.Topic)
	must(err)
	t.Cleanup(end)
	config := kafka.ConfigMap{"bootstrap.servers": cluster.ListenAddrs()[0], "group.id": "orders", "isolation.level": "read_committed", "enable.partition.eof": true, "auto.offset.reset": "error", "log_level": 0}
	client, err := kafka.NewConsumer(&config)
	must(err)
	admin, err := kafka.NewAdminClientFromConsumer(client)
	must(err)
	b := &broker{client: client, admin: admin, timeout: 20 * time.Second, epochs: newEpochs(&config, 20*time.Second)}
	t.Cleanup(func() {
		if err := b.epochs.close(); err != nil {
			t.Error(err)
		}
		_ = client.Close()
	})
	return cluster, b
}

// query is a query with its answer, as text.
type query struct {
	name string
	ask  func(ctx context.Context, b *broker) (any, error)
	want string
}

func queries(id [16]byte) []query {
	return []query{
		{"topics", func(ctx context.Context, b *broker) (any, error) { return b.Topics(ctx, "none", first.Topic) }, fmt.Sprintf("map[orders.v1:{%v 2}]", idem.UUID(id))},
		{"commit", func(ctx context.Context, b *broker) (any, error) {
			return nil, b.Commit(ctx, map[idem.Partition]idem.Commit{first: {Offset: 3, Metadata: "at 3"}})
		}, "<nil>"},
		{"committed", func(ctx context.Context, b *broker) (any, error) { return b.Committed(ctx, first.Topic, []int32{0, 1}) }, "map[0:{3 at 3} 1:{-1 }]"},
		{"watermarks", func(ctx context.Context, b *broker) (any, error) {
			low, high, err := b.Watermarks(ctx, first)
			return fmt.Sprint(low, high), err
		}, "1 3"},
		{"last", func(ctx context.Context, b *broker) (any, error) { return b.Last(ctx, first) }, "{5 0}"},
		{"epoch", func(ctx context.Context, b *broker) (any, error) {
			return b.EpochEnd(ctx, first, idem.Position{Offset: 2})
		}, "5"},
		{"config", func(ctx context.Context, b *broker) (any, error) {
			config, err := b.TopicConfig(ctx, first.Topic)
			return config["cleanup.policy"], err
		}, "delete"},
	}
}

// What the brokers know of a topic and of the group is found out as it is: with open transactions,
// with what was deleted, and with what was never committed.
func TestAnswersAreWhatTheBrokersKnow(t *testing.T) {
	t.Parallel()
	cluster, b := asks(t)
	all := append(queries(cluster.TopicInfo(first.Topic).TopicID),
		query{"no topics", func(ctx context.Context, b *broker) (any, error) { return b.Topics(ctx) }, "map[]"},
		query{"ends", func(ctx context.Context, b *broker) (any, error) {
			return b.Ends(ctx, []idem.Partition{first, second, {Topic: "none"}})
		}, "map[{orders.v1 0}:5 {orders.v1 1}:0]"},
		query{"no ends", func(ctx context.Context, b *broker) (any, error) { return b.Ends(ctx, nil) }, "map[]"},
		query{"a later epoch", func(ctx context.Context, b *broker) (any, error) {
			return b.EpochEnd(ctx, first, idem.Position{Offset: 2, Epoch: 7})
		}, "-1"},
		query{"an open transaction", func(ctx context.Context, b *broker) (any, error) { return b.OpenTransaction(ctx, first), nil }, ""},
	)
	for _, q := range all {
		if got, err := q.ask(t.Context(), b); err != nil || fmt.Sprint(got) != q.want {
			t.Errorf("%s: got %v, %v, want %s", q.name, got, err, q.want)
		}
	}
}

// A query that the broker rejects is an error, with the broker's reason, and so is one of a broker
// that is away.
func TestRejectedQueryIsNoAnswer(t *testing.T) {
	t.Parallel()
	cluster, b := asks(t)
	all := queries([16]byte{})
	handle := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.TopicAuthorizationFailed, Partitions: []int32{0}, Count: -1})
	if ends, err := b.Ends(t.Context(), []idem.Partition{first, second}); err != nil || len(ends) != 1 || ends[second] != 0 {
		t.Errorf("the ends of partitions of which one is rejected: %v, %v", ends, err)
	}
	handle.Remove()
	for _, test := range []struct {
		query string
		fault kfake.Fault
		says  string
	}{
		{"commit", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.TopicAuthorizationFailed}, ""},
		{"committed", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Err: kerr.TopicAuthorizationFailed}, "query the group's committed offset: "},
		{"watermarks", kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.TopicAuthorizationFailed}, "query the offsets of orders.v1/0: "},
		{"last", kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.TopicAuthorizationFailed}, "query the end of orders.v1/0: "},
		{"epoch", kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.TopicAuthorizationFailed}, "query the end of orders.v1/0: "},
		{"config", kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeConfigs}, Err: kerr.TopicAuthorizationFailed}, ""},
		{"topics", kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata, kmsg.DescribeTopicPartitions}, Err: kerr.TopicAuthorizationFailed}, "query the id of topic "},
	} {
		test.fault.Count = -1
		handle = cluster.Fault(test.fault)
		for _, q := range all {
			if q.name != test.query {
				continue
			}
			got, err := q.ask(t.Context(), b)
			if err == nil || !strings.HasPrefix(err.Error(), test.says) || !strings.Contains(err.Error(), "uthorization failed") {
				t.Errorf("%s: got %v, %v, want %q", test.query, got, err, test.says)
			}
		}
		handle.Remove()
	}
	cluster.Close()
	b.timeout = 200 * time.Millisecond
	var away sync.WaitGroup
	for _, q := range append(all, query{"ends", func(ctx context.Context, b *broker) (any, error) { return b.Ends(ctx, []idem.Partition{first}) }, ""},
		query{"no topics", func(ctx context.Context, b *broker) (any, error) { return b.Topics(ctx) }, ""}) {
		if q.name != "commit" { // which has the timeout of the client's requests
			away.Go(func() {
				if got, err := q.ask(t.Context(), b); err == nil {
					t.Errorf("%s of a broker that is away: %v", q.name, got)
				}
			})
		}
	}
	away.Wait()
}
