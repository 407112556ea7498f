package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest/kafkatest"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// threeBrokers runs the orders example on a Kafka of three brokers, with three replicas of all
// topics. The second broker, which leads partitions, is killed while records come, and comes back.
func threeBrokers(ctx context.Context, k *kit) (_ string, err error) {
	conf := map[string]string{"offsets.topic.replication.factor": "3", "min.insync.replicas": "2", "default.replication.factor": "3"}
	var brokers []*kafkatest.Broker
	defer func() {
		for n := range brokers {
			err = errors.Join(err, brokers[len(brokers)-1-n].Close())
		}
	}()
	for n := range 3 {
		var b *kafkatest.Broker
		var err error
		if n == 0 {
			b, err = kafkatest.Run(ctx, conf)
		} else {
			b, err = brokers[0].Join(ctx, n+1, conf)
		}
		if err != nil {
			return "", err
		}
		brokers = append(brokers, b)
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
