package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

const (
	userTopic   = "outbox.event.user"
	personTopic = "outbox.event.person"
	partitions  = 4
)

func makeTopics(ctx context.Context, brokers string, names ...string) error {
	admin, err := kafka.NewAdminClient(&kafka.ConfigMap{"bootstrap.servers": brokers, "log_level": 4})
	if err != nil {
		return err
	}
	defer admin.Close()
	var topics []kafka.TopicSpecification
	for _, name := range names {
		topics = append(topics, kafka.TopicSpecification{Topic: name, NumPartitions: partitions, ReplicationFactor: 1})
	}
	made, err := admin.CreateTopics(ctx, topics)
	for _, m := range made {
		if m.Error.Code() != kafka.ErrNoError {
			err = errors.Join(err, fmt.Errorf("make topic %s: %w", m.Topic, m.Error))
		}
	}
	return err
}

// read reads a topic from its begin to its end.
func read(brokers, topic string) (records []*kafka.Message, err error) {
	c, err := kafka.NewConsumer(&kafka.ConfigMap{"bootstrap.servers": brokers, "group.id": "demo", "enable.auto.commit": false, "log_level": 4})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	left := 0
	var from []kafka.TopicPartition
	for p := range int32(partitions) {
		low, high, err := c.QueryWatermarkOffsets(topic, p, 10_000)
		if err != nil {
			return nil, err
		}
		left += int(high - low)
		from = append(from, kafka.TopicPartition{Topic: &topic, Partition: p, Offset: kafka.Offset(low)})
	}
	if err := c.Assign(from); err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); left > 0; {
		m, err := c.ReadMessage(time.Second)
		switch {
		case err == nil:
			records = append(records, m)
			left--
		case time.Now().After(end):
			return nil, fmt.Errorf("read %s: %d records did not come: %w", topic, left, err)
		}
	}
	return records, nil
}
