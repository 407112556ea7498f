// Package admin uses a Kafka as an operator and a producer beside the services do: it makes
// topics, and appends records to the partitions that they name.
//
// It must not import any package of this module but runtime/wire.
package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Client is connected to a Kafka.
type Client struct {
	*kadm.Client
	client *kgo.Client
}

// Connect returns a client of the Kafka at an address.
func Connect(addr string) (*Client, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	if err != nil {
		return nil, err
	}
	return &Client{kadm.NewClient(client), client}, nil
}

// Topic is a topic to make.
type Topic struct {
	Name       string
	Partitions int
	Replicas   int
	On         []int32           // the brokers of each partition, in place of Replicas
	Config     map[string]string // besides that it keeps records of any age
}

// MakeTopic makes a topic that keeps records of any age.
func (c *Client) MakeTopic(ctx context.Context, t Topic) error {
	made := kmsg.NewCreateTopicsRequestTopic()
	made.Topic, made.NumPartitions, made.ReplicationFactor = t.Name, int32(t.Partitions), int16(t.Replicas)
	if t.On != nil { // instead of numbers
		made.NumPartitions, made.ReplicationFactor = -1, -1
		for p := range t.Partitions {
			made.ReplicaAssignment = append(made.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: int32(p), Replicas: t.On})
		}
	}
	set := func(name, value string) {
		made.Configs = append(made.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: name, Value: &value})
	}
	set("retention.ms", "-1")
	set("message.timestamp.after.max.ms", "9223372036854775807")
	for name, value := range t.Config {
		set(name, value)
	}
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Topics = append(request.Topics, made)
	response, err := request.RequestWith(ctx, c.client)
	if err == nil {
		for _, t := range response.Topics {
			err = errors.Join(err, kerr.ErrorForCode(t.ErrorCode))
		}
	}
	if err != nil {
		return fmt.Errorf("make topic %s: %w", t.Name, err)
	}
	return nil
}

// Produce appends messages to their partitions, and sets their offsets.
func (c *Client) Produce(ctx context.Context, messages ...*wire.Message) error {
	records := make([]*kgo.Record, len(messages))
	for i, m := range messages {
		records[i] = &kgo.Record{Topic: m.Topic, Partition: m.Partition, Key: m.Key, Value: m.Value, Timestamp: m.Time}
		for _, h := range m.Headers {
			records[i].Headers = append(records[i].Headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
		}
	}
	if err := c.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	for i, r := range records {
		messages[i].Offset = r.Offset
	}
	return nil
}
