package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// killMembers kills members of the group, after the topic went on since the last time.
func killMembers(ctx context.Context, p *part) error {
	before := p.monitor.sum()
	return p.killSome(ctx, p.processes, func() bool { return p.monitor.sum() > before }, func(ctx context.Context) error {
		_, err := p.start(ctx)
		return err
	})
}

func postgresCrashes(_ context.Context, p *part) error {
	return p.whileDown(func() error { return nil })
}

// freezeOne makes a zombie of a process.
func freezeOne(ctx context.Context, p *part) error {
	victim := p.running[p.random.IntN(len(p.running))]
	if err := victim.Freeze(); err != nil {
		return err
	}
	err := stage.Pause(ctx, time.Duration(500+p.random.IntN(3000))*time.Millisecond)
	return errors.Join(err, victim.Thaw())
}

// replaceOne does what a deployment does: a process that works is asked to end.
func replaceOne(ctx context.Context, p *part) error {
	leaving := p.running[p.random.IntN(len(p.running))]
	if !leaving.Owns() {
		return nil // it may not listen to signals yet
	}
	p.forget(leaving)
	if err := leaving.Stop(); err != nil {
		return err
	}
	_, err := p.start(ctx)
	return err
}

// hitSessions hits sessions of the service for a second.
func hitSessions(function string) func(context.Context, *part) error {
	return func(ctx context.Context, p *part) error {
		conn, err := pgx.Connect(ctx, p.direct)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		for range 50 {
			if _, err := conn.Exec(ctx, hitOne(function)); err != nil {
				return err
			}
			if err := stage.Pause(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}
}

func cutReply(ctx context.Context, p *part) error {
	select {
	case <-p.wire.Once(cutproxy.AnswerLost("_append")):
		return nil
	case <-time.After(patience):
		return errors.New("no commit passed the proxy")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func brokerCut(_ context.Context, p *part) error {
	return p.during(func() error { p.kafka.CutAll(); return nil })
}

func brokerShortlyAway(ctx context.Context, p *part) error {
	return p.during(func() error {
		p.kafka.Refuse(true)
		err := stage.Pause(ctx, time.Duration(200+p.random.IntN(3000))*time.Millisecond)
		p.kafka.Refuse(false)
		return err
	})
}

func brokerShortlyStopped(ctx context.Context, p *part) error {
	return p.during(func() error {
		p.broker.Stop()
		err := stage.Pause(ctx, time.Duration(p.random.IntN(3000))*time.Millisecond)
		return errors.Join(err, p.broker.Start())
	})
}

func coordinatorError(_ context.Context, p *part) error {
	codes := []int16{notCoordinator, illegalGeneration, unknownMember, coordinatorLoading, rebalanceInProgress}
	p.broker.Fail(idemtest.Failure{
		Requests: []int16{heartbeat, offsetCommit}, Error: codes[p.random.IntN(len(codes))], Times: 1 + p.random.IntN(3),
	})
	return nil
}

func oldRecordsAgain(ctx context.Context, p *part) error {
	return p.sendAgain(ctx, 1+p.random.IntN(200))
}

// grow adds a partition, to which new orders go at once. Partitions halt, and go on by the command
// that they name.
func grow(ctx context.Context, p *part) error {
	n := int32(partitions + p.counts["partitions added"] + 1)
	if err := p.widen(ctx, n); err != nil {
		return err
	}
	var commands []string
	err := stage.Until(ctx, patience, func() (bool, error) {
		commands = slices.DeleteFunc(remedies(p.running, halt.PartitionsChanged), func(c string) bool { return !strings.Contains(c, fmt.Sprintf(" --partitions %d ", n)) })
		return len(commands) > 0, p.dead()
	})
	if err != nil {
		return fmt.Errorf("no partition halted: %w", err)
	}
	return p.comeBack(ctx, commands)
}

// widen adds partitions under the load.
func (l *topicLog) widen(ctx context.Context, n int32) error {
	l.making.Lock()
	defer l.making.Unlock()
	if err := l.broker.CreatePartitions(ctx, l.topic, n); err != nil {
		return err
	}
	l.shop.Grow(n)
	return nil
}
