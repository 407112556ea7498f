package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// patience is how long something may take that happens at once on an idle machine.
const patience = 90 * time.Second

// quiet is the setting of a client that says on stderr how often a broker that is away does not
// answer.
const quiet = "log_level"

// withAdmin asks the broker as an administrator does.
func (k *kit) withAdmin(do func(*kafka.AdminClient) error) error {
	a, err := kafka.NewAdminClient(&kafka.ConfigMap{"bootstrap.servers": k.broker.Addr(), quiet: 0})
	if err != nil {
		return err
	}
	defer a.Close()
	return do(a)
}

// makeTopic makes a topic that keeps records of any age.
func (k *kit) makeTopic(ctx context.Context, name string, partitions int, more map[string]string) error {
	config := map[string]string{"retention.ms": "-1", "message.timestamp.after.max.ms": "9223372036854775807"}
	for n, v := range more {
		config[n] = v
	}
	return k.withAdmin(func(a *kafka.AdminClient) error {
		made, err := a.CreateTopics(ctx, []kafka.TopicSpecification{{Topic: name, NumPartitions: partitions, ReplicationFactor: max(k.replicas, 1), Config: config}})
		if err == nil && made[0].Error.Code() != kafka.ErrNoError {
			err = made[0].Error
		}
		if err != nil {
			return fmt.Errorf("make topic %s: %w", name, err)
		}
		return nil
	})
}

// removeTopic deletes a topic, if it is there, and waits until it is gone.
func (k *kit) removeTopic(ctx context.Context, name string) error {
	return k.withAdmin(func(a *kafka.AdminClient) error {
		removed, err := a.DeleteTopics(ctx, []string{name})
		if err != nil {
			return err
		}
		if code := removed[0].Error.Code(); code != kafka.ErrNoError && code != kafka.ErrUnknownTopicOrPart {
			return removed[0].Error
		}
		return stage.Until(ctx, patience, func() (bool, error) {
			metadata, err := a.GetMetadata(nil, true, 5000)
			if err != nil {
				return false, unlessLate(err)
			}
			_, there := metadata.Topics[name]
			return !there, nil
		})
	})
}

// unlessLate returns nil for an error of a broker that does not answer in time, as on a machine
// with other work, and else the error.
func unlessLate(err error) error {
	if e, is := errors.AsType[kafka.Error](err); is && (e.Code() == kafka.ErrTimedOut || e.Code() == kafka.ErrRequestTimedOut) {
		return nil
	}
	return err
}

// enlarge has a topic take records of up to 4 MiB.
func (k *kit) enlarge(ctx context.Context, topic string) error {
	return k.withAdmin(func(a *kafka.AdminClient) error {
		set, err := a.IncrementalAlterConfigs(ctx, []kafka.ConfigResource{{Type: kafka.ResourceTopic, Name: topic, Config: []kafka.ConfigEntry{
			{Name: "max.message.bytes", Value: "4194304", IncrementalOperation: kafka.AlterConfigOpTypeSet},
		}}})
		if err == nil && set[0].Error.Code() != kafka.ErrNoError {
			err = set[0].Error
		}
		return err
	})
}

// fresh makes a topic anew, and has the group that reads it begin anew.
func (k *kit) fresh(ctx context.Context, topic, group string, partitions int) error {
	if err := k.removeTopic(ctx, topic); err != nil {
		return err
	}
	err := k.withAdmin(func(a *kafka.AdminClient) error {
		return stage.Until(ctx, patience, func() (bool, error) {
			result, err := a.DeleteConsumerGroups(ctx, []string{group})
			if err != nil {
				return false, unlessLate(err)
			}
			switch result.ConsumerGroupResults[0].Error.Code() {
			case kafka.ErrNoError, kafka.ErrGroupIDNotFound:
				return true, nil
			case kafka.ErrNonEmptyGroup, kafka.ErrNotCoordinator, kafka.ErrCoordinatorNotAvailable, kafka.ErrCoordinatorLoadInProgress:
				return false, nil // a member that was killed is missed after a while, and a broker begins
			}
			return false, unlessLate(result.ConsumerGroupResults[0].Error)
		})
	})
	if err != nil {
		return fmt.Errorf("remove group %s: %w", group, err)
	}
	return k.makeTopic(ctx, topic, partitions, nil)
}

// produce sends messages to their partitions, and notes their offsets.
func (k *kit) produce(ctx context.Context, messages ...*wire.Message) error {
	p, err := kafka.NewProducer(&kafka.ConfigMap{"bootstrap.servers": k.broker.Addr(), "enable.idempotence": true, "linger.ms": 1, quiet: 0})
	if err != nil {
		return err
	}
	defer p.Close()
	reports := make(chan kafka.Event, len(messages))
	for _, m := range messages {
		headers := make([]kafka.Header, len(m.Headers))
		for i, h := range m.Headers {
			headers[i] = kafka.Header{Key: h.Name, Value: h.Value}
		}
		err := p.Produce(&kafka.Message{
			TopicPartition: kafka.TopicPartition{Topic: &m.Topic, Partition: m.Partition},
			Key:            m.Key, Value: m.Value, Headers: headers, Timestamp: m.Time, Opaque: m,
		}, reports)
		if err != nil {
			return err
		}
	}
	for range messages {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-reports:
			sent := e.(*kafka.Message)
			if sent.TopicPartition.Error != nil {
				return sent.TopicPartition.Error
			}
			m := sent.Opaque.(*wire.Message)
			m.Partition, m.Offset = sent.TopicPartition.Partition, int64(sent.TopicPartition.Offset)
		}
	}
	return nil
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
