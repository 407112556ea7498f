package fakebroker

import (
	"context"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// OpenLog writes to partition 0 of a topic: three records, whose first is then deleted, and two of
// a transaction that is open until end is called. So the log begins at offset 1, is readable to
// offset 3, and ends at offset 5.
func OpenLog(ctx context.Context, c *kfake.Cluster, topic string) (end func(), err error) {
	connect := func(options ...kgo.Opt) (*kgo.Client, error) {
		return kgo.NewClient(append(options, kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	}
	record := func() *kgo.Record { return &kgo.Record{Topic: topic, Value: []byte("x")} }
	plain, err := connect()
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	if err := plain.ProduceSync(ctx, record(), record(), record()).FirstErr(); err != nil {
		return nil, err
	}
	deletes, of, p := kmsg.NewPtrDeleteRecordsRequest(), kmsg.NewDeleteRecordsRequestTopic(), kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Offset = 1
	of.Topic, of.Partitions = topic, append(of.Partitions, p)
	deletes.Topics = append(deletes.Topics, of)
	if _, err := deletes.RequestWith(ctx, plain); err != nil {
		return nil, err
	}
	open, err := connect(kgo.TransactionalID("open"))
	if err != nil {
		return nil, err
	}
	if err = open.BeginTransaction(); err == nil {
		err = open.ProduceSync(ctx, record(), record()).FirstErr()
	}
	if err != nil {
		open.Close()
		return nil, err
	}
	return open.Close, nil
}
