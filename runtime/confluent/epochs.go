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

// epochs determines where leader epochs end. The client has no call for that, but it queries the
// broker (OffsetForLeaderEpoch) when it seeks to a position with an epoch, and reports if the log
// ends below it, without naming the partition. So a separate client seeks, in one partition at a
// time. It joins no group, and is created when it is first needed.
type epochs struct {
	config   kafka.ConfigMap
	timeout  time.Duration
	turn     chan *kafka.Consumer // holds the client while it is not in use; nil before it is created
	compares bool                 // the brokers were seen to compare epochs; only with the turn
}

func newEpochs(config *kafka.ConfigMap, timeout time.Duration) *epochs {
	e := &epochs{config: maps.Clone(*config), timeout: timeout, turn: make(chan *kafka.Consumer, 1)}
	delete(e.config, "go.logs.channel")
	maps.Copy(e.config, kafka.ConfigMap{"go.logs.channel.enable": false, "log_level": 0, "statistics.interval.ms": 0})
	e.turn <- nil
	return e
}

// close waits for a running query, and closes the client. Later queries fail.
func (e *epochs) close() error {
	client := <-e.turn
	close(e.turn)
	if client == nil {
		return nil
	}
	return client.Close()
}

var errClosed = errors.New("the client is closed")

// end returns where the leader epoch of a position ends if that is below the position, and
// otherwise the position; -1 if the log has no such epoch. log is the end of the log.
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
	if err == nil && end == at.Offset {
		err = e.verify(ctx, client, id, at.Epoch, logEnd)
	}
	if err != nil { // it may know a later epoch than the broker now has: the next query creates a new client
		_ = client.Close()
		client = nil
		return 0, fmt.Errorf("query the end of leader epoch %d of %s/%d: %w", at.Epoch, id.Topic, id.Number, err)
	}
	return end, nil
}

// verify checks once that the brokers compare epochs: a position behind the end of the log, with
// an earlier epoch, must be reported as truncated. The client does not query brokers that do not
// accept its version of the request, and then takes each position for a valid one.
func (e *epochs) verify(ctx context.Context, client *kafka.Consumer, id idem.Partition, earlier int32, logEnd int64) error {
	if e.compares {
		return nil
	}
	behind := idem.Position{Offset: logEnd + 1, Epoch: earlier}
	end, err := seek(ctx, client, id, behind, logEnd)
	if err == nil && end == behind.Offset {
		return errNotCompared
	}
	e.compares = err == nil
	return err
}

var errNotCompared = errors.New("the brokers do not accept version 2 of OffsetForLeaderEpoch, so librdkafka cannot tell whether an unclean leader election truncated the log: use package franz")

// seek makes a client seek to a position, from the end of the log, and waits for the result.
func seek(ctx context.Context, client *kafka.Consumer, id idem.Partition, at idem.Position, logEnd int64) (end int64, err error) {
	for client.Poll(0) != nil { // of earlier queries
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
			if e.Code() == kafka.ErrAutoOffsetReset { // the position is not in the log, for another reason than its epoch
				return at.Offset, nil
			}
		}
	}
	return 0, ctx.Err()
}

// seekWhenAssigned seeks once the client has begun to fetch; until then the client rejects a seek.
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

// truncation returns, from an error of the client, where the log was truncated; -1 if it does not
// say. Other errors are about the connection, or about a position that is not in the log.
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
