package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/kit/kafkatest"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/scripts/internal/admin"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// threeBrokers runs the orders example on a Kafka of three brokers, with three replicas of all
// topics. The second broker, which leads partitions, is killed while records come, and comes back.
func threeBrokers(ctx context.Context, k *kit) (_ string, err error) {
	conf := map[string]string{"offsets.topic.replication.factor": "3", "min.insync.replicas": "2", "default.replication.factor": "3"}
	brokers, end, err := runBrokers(ctx, conf)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return "", err
	}
	cluster := *k
	cluster.broker, cluster.replicas = brokers[0], len(brokers)
	s, err := cluster.openShop(ctx, "")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.works(ctx, 2); err != nil {
		return "", err
	}
	for round := range 30 {
		if err := s.send(ctx, s.events(100)...); err != nil {
			return "", fmt.Errorf("round %d: %w", round, err)
		}
		switch round {
		case 8:
			err = brokers[1].Crash()
		case 20:
			err = brokers[1].Restart(ctx)
		default:
			err = stage.Pause(ctx, 100*time.Millisecond)
		}
		if err != nil {
			return "", err
		}
	}
	if err := errors.Join(s.caughtUp(ctx), s.stopAll()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d records", len(s.log)), s.right(ctx)
}

// runBrokers starts three brokers. end ends those that run.
func runBrokers(ctx context.Context, conf map[string]string) (brokers []*kafkatest.Broker, end func() error, err error) {
	end = func() (err error) {
		for n := range brokers {
			err = errors.Join(err, brokers[len(brokers)-1-n].Close())
		}
		return err
	}
	for n := range 3 {
		var b *kafkatest.Broker
		if n == 0 {
			b, err = kafkatest.Run(ctx, conf)
		} else {
			b, err = brokers[0].Join(ctx, n+1, conf)
		}
		if err != nil {
			return brokers, end, err
		}
		brokers = append(brokers, b)
	}
	return brokers, end, nil
}

// uncleanElection has a broker lead that lacked the end of the log: it was killed before the other
// one took records, which is killed then. The log is cut below the position of the service, and
// grows past it before the service reads again.
func uncleanElection(ctx context.Context, k *kit) (_ string, err error) {
	brokers, end, err := runBrokers(ctx, map[string]string{"offsets.topic.replication.factor": "3", "broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500"})
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return "", err
	}
	cluster := *k
	cluster.broker = brokers[0]
	s, err := cluster.openShop(ctx, "")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := cluster.replicate(ctx, shop.Topic, partitions, 2, 3); err != nil {
		return "", err
	}
	kept := s.events(200)
	if err := errors.Join(s.send(ctx, kept...), s.works(ctx, 2), s.caughtUp(ctx)); err != nil {
		return "", err
	}
	if err := errors.Join(brokers[2].Crash(), s.send(ctx, s.events(200)...), s.caughtUp(ctx), s.stopAll()); err != nil {
		return "", err
	}
	if err := errors.Join(brokers[1].Crash(), brokers[2].Restart(ctx)); err != nil {
		return "", err
	}
	for i, m := range s.log { // what was applied, whether the log still has it
		s.log[i] = shop.Again(m)
		s.log[i].Offset = -1
	}
	clear(s.ends)
	hidden := s.events(800)
	if err := cluster.produce(ctx, hidden...); err != nil {
		return "", err
	}
	if err := errors.Join(s.start(ctx), s.start(ctx)); err != nil {
		return "", err
	}
	commands, err := s.halted(ctx, partitions, halt.LogTruncated)
	if err != nil {
		return "", err
	}
	if err := s.right(ctx); err != nil {
		return "", fmt.Errorf("while it stands: %w", err)
	}
	s.sent(hidden...)
	return fmt.Sprintf("%d partitions halted, and went on by idemgen stream set", len(commands)), s.goesOn(ctx, commands)
}

// replicate makes a topic anew, with its partitions on chosen brokers. One that lacks records may
// lead.
func (k *kit) replicate(ctx context.Context, topic string, partitions int, replicas ...int32) error {
	if err := k.removeTopic(ctx, topic); err != nil {
		return err
	}
	return k.admin(func(c *admin.Client) error {
		return c.MakeTopic(ctx, admin.Topic{Name: topic, Partitions: partitions, On: replicas, Config: map[string]string{
			"unclean.leader.election.enable": "true", "min.insync.replicas": "1",
		}})
	})
}
