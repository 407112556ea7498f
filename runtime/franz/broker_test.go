package franz

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/kit/fakebroker"
	"github.com/idemgen/idemgen/runtime/franz/internal/clientlog"
	"github.com/idemgen/idemgen/runtime/idem"
)

var (
	first  = idem.Partition{Topic: "orders.v1"}
	second = idem.Partition{Topic: "orders.v1", Number: 1}
)

// asks returns a broker in memory, which has a topic of two partitions, and what queries it.
func asks(t *testing.T) (*kfake.Cluster, *broker) {
	t.Helper()
	cluster, err := fakebroker.New(kfake.NumBrokers(1), kfake.SeedTopics(2, first.Topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	state := &clientlog.Connections{}
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.WithHooks(state))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return cluster, &broker{group: client, fetch: client, name: "orders", state: state, timeout: 20 * time.Second, ids: map[string]idem.UUID{}}
}

// What the brokers know of a topic and of the group is found out as it is: with open transactions,
// with what was deleted, and with what was never committed.
func TestAnswersAreWhatTheBrokersKnow(t *testing.T) {
	t.Parallel()
	cluster, b := asks(t)
	ctx := t.Context()
	end, err := fakebroker.OpenLog(ctx, cluster, first.Topic)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	for _, query := range []struct {
		name string
		ask  func() (any, error)
		want string
	}{
		{"no topics", func() (any, error) { return b.Topics(ctx) }, "map[]"},
		{"topics", func() (any, error) {
			all, err := b.Topics(ctx, "none", first.Topic)
			if id := cluster.TopicInfo(first.Topic).TopicID; all[first.Topic].ID != id {
				t.Errorf("the id is %v, want %v", all[first.Topic].ID, id)
			}
			return fmt.Sprint(len(all), " ", all[first.Topic].Partitions), err
		}, "1 2"},
		{"commit", func() (any, error) {
			return nil, b.Commit(ctx, map[idem.Partition]idem.Commit{first: {Offset: 3, Metadata: "at 3"}})
		}, "<nil>"},
		{"committed", func() (any, error) { return b.Committed(ctx, first.Topic, []int32{0, 1}) }, "map[0:{3 at 3} 1:{-1 }]"},
		{"watermarks", func() (any, error) {
			low, high, err := b.Watermarks(ctx, first)
			return fmt.Sprint(low, high), err
		}, "1 3"},
		{"ends", func() (any, error) { return b.Ends(ctx, []idem.Partition{first, second}) }, "map[{orders.v1 0}:5 {orders.v1 1}:0]"},
		{"last", func() (any, error) { return b.Last(ctx, first) }, "{5 0}"},
		{"the end of an epoch", func() (any, error) { return b.EpochEnd(ctx, first, idem.Position{Offset: 2}) }, "5"},
		{"the end of an epoch that is not", func() (any, error) { return b.EpochEnd(ctx, first, idem.Position{Offset: 2, Epoch: 7}) }, "-1"},
		{"configuration", func() (any, error) {
			config, err := b.TopicConfig(ctx, first.Topic)
			return config["cleanup.policy"], err
		}, "delete"},
	} {
		if got, err := query.ask(); err != nil || fmt.Sprint(got) != query.want {
			t.Errorf("%s: got %v, %v, want %s", query.name, got, err, query.want)
		}
	}
}

// queries are all queries that can fail, by name.
var queries = map[string]func(ctx context.Context, b *broker) error{
	"commit": func(ctx context.Context, b *broker) error {
		return b.Commit(ctx, map[idem.Partition]idem.Commit{first: {Offset: 3}})
	},
	"committed": func(ctx context.Context, b *broker) error {
		_, err := b.Committed(ctx, first.Topic, []int32{0, 1})
		return err
	},
	"topics":     func(ctx context.Context, b *broker) error { _, err := b.Topics(ctx, first.Topic); return err },
	"watermarks": func(ctx context.Context, b *broker) error { _, _, err := b.Watermarks(ctx, first); return err },
	"ends":       func(ctx context.Context, b *broker) error { _, err := b.Ends(ctx, []idem.Partition{first}); return err },
	"last":       func(ctx context.Context, b *broker) error { _, err := b.Last(ctx, first); return err },
	"epoch": func(ctx context.Context, b *broker) error {
		_, err := b.EpochEnd(ctx, first, idem.Position{Epoch: 7})
		return err
	},
	"config": func(ctx context.Context, b *broker) error { _, err := b.TopicConfig(ctx, first.Topic); return err },
}

// A query that a broker rejects is an error with the broker's reason, whichever part of the
// response has it, and one that it answers with less than was asked is an error too.
func TestRejectedQueryIsNoAnswer(t *testing.T) {
	t.Parallel()
	forbidden := kerr.TopicAuthorizationFailed
	latest := func(r kmsg.Request) bool {
		return r.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp == latest
	}
	incomplete := "query the group's committed offset: the broker's response is incomplete"
	for _, test := range []struct {
		query   string
		fault   kfake.Fault
		lacking func(kmsg.Response) // in place of the fault: the response without what was asked
		want    error
		says    string
	}{
		{query: "commit", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: forbidden}, want: forbidden, says: "TOPIC_AUTHORIZATION_FAILED"},
		{query: "committed", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Err: forbidden}, says: "query the group's committed offset: TOPIC_AUTHORIZATION_FAILED"},
		{query: "committed", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}}, says: "query the group's committed offset: GROUP_AUTHORIZATION_FAILED",
			lacking: func(r kmsg.Response) {
				group := kmsg.NewOffsetFetchResponseGroup()
				group.Group, group.ErrorCode = "orders", kerr.GroupAuthorizationFailed.Code
				r.(*kmsg.OffsetFetchResponse).Groups = append(r.(*kmsg.OffsetFetchResponse).Groups, group)
			}},
		{query: "committed", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}}, says: incomplete, lacking: func(kmsg.Response) {}},
		{query: "committed", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}}, says: incomplete, lacking: func(r kmsg.Response) {
			group := kmsg.NewOffsetFetchResponseGroup()
			group.Group = "orders"
			r.(*kmsg.OffsetFetchResponse).Groups = append(r.(*kmsg.OffsetFetchResponse).Groups, group)
		}},
		{query: "committed", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}}, says: "query the group's committed offset: TOPIC_AUTHORIZATION_FAILED",
			lacking: func(r kmsg.Response) {
				group, topic, p := kmsg.NewOffsetFetchResponseGroup(), kmsg.NewOffsetFetchResponseGroupTopic(), kmsg.NewOffsetFetchResponseGroupTopicPartition()
				other := p
				p.ErrorCode, other.Partition = forbidden.Code, 1
				topic.Topic, topic.Partitions = first.Topic, append(topic.Partitions, p, other)
				group.Group, group.Topics = "orders", append(group.Topics, topic)
				r.(*kmsg.OffsetFetchResponse).Groups = append(r.(*kmsg.OffsetFetchResponse).Groups, group)
			}},
		{query: "committed", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}}, says: incomplete,
			lacking: func(r kmsg.Response) {
				group, topic, p := kmsg.NewOffsetFetchResponseGroup(), kmsg.NewOffsetFetchResponseGroupTopic(), kmsg.NewOffsetFetchResponseGroupTopicPartition()
				topic.Topic, topic.Partitions = first.Topic, append(topic.Partitions, p)
				group.Group, group.Topics = "orders", append(group.Topics, topic)
				r.(*kmsg.OffsetFetchResponse).Groups = append(r.(*kmsg.OffsetFetchResponse).Groups, group)
			}},
		{query: "topics", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Err: forbidden}, want: forbidden, says: "query the id of topic orders.v1: TOPIC_AUTHORIZATION_FAILED"},
		{query: "watermarks", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: forbidden}, want: forbidden, says: "query the offsets of orders.v1/0: TOPIC_AUTHORIZATION_FAILED"},
		{query: "watermarks", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: forbidden, When: latest}, want: forbidden, says: "query the offsets of orders.v1/0: TOPIC_AUTHORIZATION_FAILED"},
		{query: "watermarks", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}}, want: errIncomplete, lacking: func(kmsg.Response) {}},
		{query: "ends", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: forbidden}, want: forbidden, says: "TOPIC_AUTHORIZATION_FAILED"},
		{query: "last", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: forbidden}, want: forbidden, says: "query the end of orders.v1/0: TOPIC_AUTHORIZATION_FAILED"},
		{query: "last", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}}, want: errIncomplete, lacking: func(r kmsg.Response) {
			topic := kmsg.NewListOffsetsResponseTopic()
			topic.Topic = first.Topic
			r.(*kmsg.ListOffsetsResponse).Topics = append(r.(*kmsg.ListOffsetsResponse).Topics, topic)
		}},
		{query: "epoch", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetForLeaderEpoch}, Err: forbidden}, want: forbidden, says: "query the end of leader epoch 7 of orders.v1/0: TOPIC_AUTHORIZATION_FAILED"},
		{query: "epoch", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetForLeaderEpoch}}, want: errIncomplete, lacking: func(kmsg.Response) {}},
		{query: "epoch", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetForLeaderEpoch}}, want: errIncomplete, lacking: func(r kmsg.Response) {
			topic := kmsg.NewOffsetForLeaderEpochResponseTopic()
			topic.Topic = first.Topic
			r.(*kmsg.OffsetForLeaderEpochResponse).Topics = append(r.(*kmsg.OffsetForLeaderEpochResponse).Topics, topic)
		}},
		{query: "config", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeConfigs}, Err: forbidden}, want: forbidden, says: "TOPIC_AUTHORIZATION_FAILED"},
		{query: "config", fault: kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeConfigs}}, want: errIncomplete, lacking: func(kmsg.Response) {}},
	} {
		t.Run(test.query, func(t *testing.T) {
			t.Parallel()
			cluster, b := asks(t)
			if _, err := b.Topics(t.Context(), first.Topic); err != nil {
				t.Fatal(err)
			}
			if test.fault.Count = -1; test.lacking == nil {
				cluster.Fault(test.fault)
			} else {
				cluster.ControlKey(int16(test.fault.Keys[0]), func(q kmsg.Request) (kmsg.Response, error, bool) {
					cluster.KeepControl()
					r := q.ResponseKind()
					test.lacking(r)
					return r, nil, true
				})
			}
			err := queries[test.query](t.Context(), b)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

// Of brokers that are away no query has an answer, and the reason is that of the connection.
func TestQueryOfBrokersThatAreAwayFails(t *testing.T) {
	t.Parallel()
	cluster, b := asks(t)
	if _, err := b.Topics(t.Context(), first.Topic); err != nil {
		t.Fatal(err)
	}
	cluster.Close()
	b.timeout = 100 * time.Millisecond
	var all sync.WaitGroup
	for name, ask := range queries {
		all.Go(func() {
			if err := ask(t.Context(), b); err == nil || errors.Is(err, errIncomplete) {
				t.Errorf("%s has the answer %v", name, err)
			}
		})
	}
	all.Go(func() {
		if who := b.OpenTransaction(t.Context(), first); who != "" {
			t.Errorf("a transaction of %q is open", who)
		}
	})
	all.Wait()
}

// Records wait for the open transaction that began first.
func TestFirstOpenTransactionIsTold(t *testing.T) {
	t.Parallel()
	cluster, b := asks(t)
	var begun atomic.Pointer[[]int64]
	cluster.ControlKey(int16(kmsg.DescribeProducers), func(q kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		r := q.ResponseKind().(*kmsg.DescribeProducersResponse)
		if begun.Load() == nil {
			return r, nil, true
		}
		of := q.(*kmsg.DescribeProducersRequest).Topics[0]
		topic, p := kmsg.NewDescribeProducersResponseTopic(), kmsg.NewDescribeProducersResponseTopicPartition()
		p.Partition = of.Partitions[0]
		for i, offset := range *begun.Load() {
			producer := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
			producer.ProducerID, producer.CurrentTxnStartOffset = int64(i), offset
			producer.LastTimestamp = time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC).UnixMilli()
			p.ActiveProducers = append(p.ActiveProducers, producer)
		}
		if topic.Topic = of.Topic; *begun.Load() != nil {
			topic.Partitions = append(topic.Partitions, p)
		}
		r.Topics = append(r.Topics, topic)
		return r, nil, true
	})
	if who := b.OpenTransaction(t.Context(), first); who != "" {
		t.Errorf("without an answer: %q", who)
	}
	for _, test := range []struct {
		begun []int64
		first int // index of the producer that is returned; -1 if none is
	}{
		{nil, -1}, {[]int64{-1}, -1}, {[]int64{0, 0, 5}, 0}, {[]int64{-1, 3}, 1}, {[]int64{-1, 9, 4, 6}, 2},
	} {
		begun.Store(&test.begun)
		want := ""
		if test.first >= 0 {
			want = fmt.Sprintf("producer id %d, whose last record was written at 2026-01-02T03:04:0%[1]dZ", test.first)
		}
		if who := b.OpenTransaction(t.Context(), first); who != want {
			t.Errorf("transactions that began at %v: %q, want %q", test.begun, who, want)
		}
	}
}
