package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/admin"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// patience is how long something may take that happens at once on an idle machine.
const patience = 90 * time.Second

// quiet is the setting of a client that says on stderr how often a broker that is away does not
// answer.
const quiet = "log_level"

// admin uses the broker as an operator and a producer do.
func (k *kit) admin(do func(*admin.Client) error) error {
	c, err := admin.Connect(k.broker.Addr())
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// makeTopic makes a topic that keeps records of any age.
func (k *kit) makeTopic(ctx context.Context, name string, partitions int) error {
	return k.admin(func(c *admin.Client) error {
		return c.MakeTopic(ctx, admin.Topic{Name: name, Partitions: partitions, Replicas: max(k.replicas, 1)})
	})
}

// removeTopic deletes a topic, if it is there, and waits until it is gone.
func (k *kit) removeTopic(ctx context.Context, name string) error {
	return k.admin(func(c *admin.Client) error {
		if _, err := c.DeleteTopic(ctx, name); err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return err
		}
		return stage.Until(ctx, patience, func() (bool, error) {
			topics, err := c.ListTopics(ctx)
			return err == nil && !topics.Has(name), unlessLate(err)
		})
	})
}

// unlessLate returns nil for an error that usually ends by itself, as on a machine with other
// work, and else the error.
func unlessLate(err error) error {
	if kerr.IsRetriable(err) {
		return nil
	}
	return err
}

// enlarge has a topic take records of up to 4 MiB.
func (k *kit) enlarge(ctx context.Context, topic string) error {
	return k.admin(func(c *admin.Client) error {
		size := "4194304"
		set, err := c.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: &size}}, topic)
		if err == nil {
			err = set[0].Err
		}
		return err
	})
}

// fresh makes a topic anew, and has the group that reads it begin anew.
func (k *kit) fresh(ctx context.Context, topic, group string, partitions int) error {
	if err := k.removeTopic(ctx, topic); err != nil {
		return err
	}
	err := k.admin(func(c *admin.Client) error {
		return stage.Until(ctx, patience, func() (bool, error) {
			switch _, err := c.DeleteGroup(ctx, group); {
			case err == nil, errors.Is(err, kerr.GroupIDNotFound):
				return true, nil
			case errors.Is(err, kerr.NonEmptyGroup): // a member that was killed is missed after a while
				return false, nil
			default:
				return false, unlessLate(err)
			}
		})
	})
	if err != nil {
		return fmt.Errorf("remove group %s: %w", group, err)
	}
	return k.makeTopic(ctx, topic, partitions)
}

// produce sends messages to their partitions, and notes their offsets.
func (k *kit) produce(ctx context.Context, messages ...*wire.Message) error {
	return k.admin(func(c *admin.Client) error { return c.Produce(ctx, messages...) })
}

// read reads a topic from its beginning to where it ends now, each partition in its order.
func (k *kit) read(ctx context.Context, topic string) (records []*kafka.Message, err error) {
	c, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers": k.broker.Addr(), "group.id": "e2e-reader", "enable.auto.commit": false, "auto.offset.reset": "earliest",
		"fetch.message.max.bytes": 8 << 20, quiet: 0,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	metadata, err := c.GetMetadata(&topic, false, 10_000)
	if err != nil {
		return nil, err
	}
	left := 0
	var from []kafka.TopicPartition
	for _, p := range metadata.Topics[topic].Partitions {
		low, high, err := c.QueryWatermarkOffsets(topic, p.ID, 10_000)
		if err != nil {
			return nil, err
		}
		left += int(high - low)
		from = append(from, kafka.TopicPartition{Topic: &topic, Partition: p.ID, Offset: kafka.Offset(low)})
	}
	if err := c.Assign(from); err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); left > 0; {
		m, err := c.ReadMessage(200 * time.Millisecond)
		switch {
		case err == nil:
			records = append(records, m)
			left--
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case time.Now().After(end):
			return nil, fmt.Errorf("topic %s: %d records did not come: %w", topic, left, err)
		}
	}
	slices.SortStableFunc(records, func(a, b *kafka.Message) int {
		return cmp.Compare(a.TopicPartition.Partition, b.TopicPartition.Partition)
	})
	return records, nil
}

// readWhen reads a topic again and again until enough says so.
func (k *kit) readWhen(ctx context.Context, topic string, enough func([]*kafka.Message) bool) (records []*kafka.Message, err error) {
	err = stage.Until(ctx, patience, func() (bool, error) {
		var err error
		records, err = k.read(ctx, topic)
		return err == nil && enough(records), err
	})
	if errors.Is(err, stage.ErrTimeout) {
		err = fmt.Errorf("topic %s has %d records, and not those wanted, after %v", topic, len(records), patience)
	}
	return records, err
}

// header is the value of a record's header; "" without one.
func header(m *kafka.Message, name string) string {
	for _, h := range m.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}
