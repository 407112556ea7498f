package confluent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/confluent/internal/clientlog"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/member"
)

// run is one Source.Run. Only the polling goroutine uses it, which also runs the rebalance
// callback.
type run struct {
	sub    idem.Subscription
	client *kafka.Consumer
	log    *clientlog.Log
	member *member.Member

	failed  bool // an error event named a cause since the last alarm
	alarmed bool // all brokers were reported down, without a cause

	coordinator coordinator // as the last statistics showed it
}

// consumer implements member.Client.
type consumer struct {
	fetcher
	*broker
	lines chan kafka.LogEvent // the client's log, which ends with the client
}

func (c consumer) Close() error {
	defer close(c.lines) // the client no longer writes
	c.broker.close()
	return errors.Join(c.epochs.close(), c.fetcher.client.Close())
}

func newRun(ctx context.Context, s *Source, sub idem.Subscription, sink idem.Sink, config *kafka.ConfigMap, client *kafka.Consumer, lines chan kafka.LogEvent) (*run, error) {
	logger := s.Logger
	if logger == nil {
		logger = slog.Default()
	}
	admin, err := kafka.NewAdminClientFromConsumer(client)
	if err != nil {
		return nil, err
	}
	timeout := member.PaceOf(ctx).Request
	asker := &broker{client: client, admin: admin, timeout: timeout, epochs: newEpochs(config, timeout)}
	return &run{
		sub: sub, client: client,
		log: clientlog.New(logger, s.Brokers),
		member: member.New(ctx, member.Config{
			Subscription: sub, Sink: sink, Client: consumer{fetcher{client}, asker, lines}, Log: logger,
			Brokers: s.Brokers, Session: s.sessionEnds(sub), FetchBytes: fetchBytes,
		}),
	}, nil
}

// poll joins the group and polls until ctx is done or the client fails permanently. The client has
// no call that returns several records, and no setting by which it leaves headers out; its Poll is
// most of the CPU time of this package (BenchmarkClient of package member).
func (r *run) poll() error {
	callback := func(_ *kafka.Consumer, e kafka.Event) error { r.rebalance(e); return nil }
	if err := r.client.SubscribeTopics(r.sub.Topics, callback); err != nil {
		return err
	}
	r.member.Begin()
	for wait := 0; !r.member.Ended(); {
		r.member.DoWhatIsDue(time.Now())
		switch e := r.client.Poll(wait).(type) {
		case nil:
			wait = int(r.member.PollWait().Milliseconds())
		case *kafka.Message:
			r.accept(e)
		case kafka.PartitionEOF:
			if p := r.member.Find(*e.Topic, e.Partition); p != nil {
				r.member.ReachedEnd(p, int64(e.Offset))
			}
		case *kafka.Stats:
			r.statistics(e.String())
		case kafka.Error:
			r.clientError(e)
		case kafka.OAuthBearerTokenRefresh:
			r.member.BrokerFailed(clientlog.NoToken)
		}
	}
	return nil
}

// rebalance is the client's callback; it runs within a poll, or within Close. The member changes
// the assignment in every case: otherwise the client does it, at Kafka's committed offset.
func (r *run) rebalance(e kafka.Event) {
	switch e := e.(type) {
	case kafka.AssignedPartitions:
		r.member.Assign(partitionsOf(e.Partitions))
	case kafka.RevokedPartitions:
		r.member.Revoke(partitionsOf(e.Partitions), r.client.AssignmentLost())
	}
}

// accept takes a record that the client polled.
func (r *run) accept(m *kafka.Message) {
	if err := m.TopicPartition.Error; err != nil {
		if e, ok := err.(kafka.Error); ok {
			r.clientError(e)
		}
		return
	}
	p := r.member.Find(*m.TopicPartition.Topic, m.TopicPartition.Partition)
	if p == nil {
		return // no longer assigned
	}
	message, size := record(p.ID(), m)
	if r.member.Accept(p, &message, size) {
		r.member.Throttle(p)
	}
}

// coordinator is what the client's statistics show of the connection to the group's coordinator.
type coordinator struct {
	up                bool
	connects, answers int64 // how often the client connected, and how many responses it received
}

// statistics reads from the client's statistics whether the group's coordinator answers
// heartbeats. With group.protocol=consumer this shows that the client is a member: one without
// partitions receives no other event. To brokers that do not support the protocol, the client
// sends no heartbeat, and it reports no error. With classic, the rebalance callback reports it.
func (r *run) statistics(text string) {
	var seen struct {
		Group struct {
			State string `json:"state"`
		} `json:"cgrp"`
		Brokers map[string]struct {
			Connects int64 `json:"connects"`
			Answers  int64 `json:"rx"`
		} `json:"brokers"`
	}
	if json.Unmarshal([]byte(text), &seen) != nil {
		return
	}
	of := seen.Brokers["GroupCoordinator"]
	last, now := r.coordinator, coordinator{seen.Group.State == "up", of.Connects, of.Answers}
	r.coordinator = now
	switch same := last.up && now.up && last.connects == now.connects; {
	case same && now.answers > last.answers:
		r.member.Shared()
	case same:
		r.member.JoinFailed(errNoHeartbeat)
	}
}

var errNoHeartbeat = errors.New("its coordinator responds, but has not answered a heartbeat; brokers before Kafka 4.0 do not support group.protocol=consumer")
