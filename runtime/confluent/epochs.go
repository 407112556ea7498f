package confluent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/member"
)

// epochs finds out where leader epochs end. The client has no call for that: it asks the broker
// (OffsetForLeaderEpoch) when it seeks to a position with an epoch, and reports a log that ends
// below, without naming the partition. So a client of its own seeks, in one partition at a time.
// It joins no group, and is made when it is first needed.
type epochs struct {
	config  kafka.ConfigMap
	timeout time.Duration
	turn    chan *kafka.Consumer // holds the client, nil before there is one, while nobody uses it
}

func newEpochs(config *kafka.ConfigMap, timeout time.Duration) *epochs {
	e := &epochs{config: maps.Clone(*config), timeout: timeout, turn: make(chan *kafka.Consumer, 1)}
	delete(e.config, "go.logs.channel")
	maps.Copy(e.config, kafka.ConfigMap{"go.logs.channel.enable": false, "log_level": 0, "statistics.interval.ms": 0})
	e.turn <- nil
	return e
}

// close waits for a question that is asked, and closes the client. No other question is answered.
func (e *epochs) close() error {
	client := <-e.turn
	close(e.turn)
	if client == nil {
		return nil
	}
	return client.Close()
}

var errClosed = errors.New("the client is closed")

// end is where the leader epoch of a position ends if that is below the position; otherwise it is
// the position, and -1 if the log has no such epoch. The log ends at an offset.
func (e *epochs) end(ctx context.Context, id idem.Partition, at idem.Position, logEnd int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	var client *kafka.Consumer
	var open bool
	select {
	case client, open = <-e.turn:
	case <-ctx.Done():
	}
	switch {
	case ctx.Err() != nil && client == nil && !open:
		return 0, fmt.Errorf("query the end of leader epoch %d of %s/%d: %w", at.Epoch, id.Topic, id.Number, ctx.Err())
	case !open:
		return 0, errClosed
	}
	defer func() { e.turn <- client }()
	var err error
	if client == nil {
		if client, err = kafka.NewConsumer(&e.config); err != nil {
			return 0, err
		}
	}
	end, err := seek(ctx, client, id, at, logEnd)
	if err != nil { // it may have heard of a later epoch than the broker has now: the next one is new
		_ = client.Close()
		client = nil
		return 0, fmt.Errorf("query the end of leader epoch %d of %s/%d: %w", at.Epoch, id.Topic, id.Number, err)
	}
	return end, nil
}

// seek has a client seek to a position, from the end of the log, and waits for what comes of it.
func seek(ctx context.Context, client *kafka.Consumer, id idem.Partition, at idem.Position, logEnd int64) (end int64, err error) {
	for client.Poll(0) != nil { // of earlier questions
	}
	if err := client.Assign([]kafka.TopicPartition{topicPartition(&id, logEnd)}); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, client.Unassign()) }()
	if err := seekWhenAssigned(ctx, client, start(&member.At{Partition: id, Position: at})); err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		switch e := client.Poll(20).(type) {
		case *kafka.Message:
			if e.TopicPartition.Error == nil {
				return at.Offset, nil
			}
		case kafka.PartitionEOF:
			return at.Offset, nil
		case kafka.Error:
			if end, ok := truncation(e); ok {
				return min(end, at.Offset), nil
			}
		}
	}
	return 0, ctx.Err()
}

// seekWhenAssigned seeks once the client has begun to fetch; until then it refuses.
func seekWhenAssigned(ctx context.Context, client *kafka.Consumer, to kafka.TopicPartition) error {
	for {
		moved, err := client.SeekPartitions([]kafka.TopicPartition{to})
		if err == nil {
			err = moved[0].Error
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

var brokerEnd = regexp.MustCompile(`broker end offset is (-?\d+)`)

// truncation reads from an error of the client where the log was cut; -1 if it does not say. Other
// errors are about the connection, or about a position that is not in the log.
func truncation(e kafka.Error) (end int64, ok bool) {
	if e.Code() != kafka.ErrAutoOffsetReset && e.Code() != kafka.ErrLogTruncation {
		return 0, false
	}
	if m := brokerEnd.FindStringSubmatch(e.Error()); m != nil {
		end, err := strconv.ParseInt(m[1], 10, 64)
		return end, err == nil
	}
	return -1, strings.Contains(e.Error(), "truncation")
}
