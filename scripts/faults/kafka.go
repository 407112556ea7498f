package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// kafkaFaults concern the broker, the group and the connections to them.
var kafkaFaults = []fault{
	{name: "connections to the broker cut", do: connectionsCut},
	{name: "broker away", do: brokerAway},
	{name: "broker stopped and started with its log", kept: true, do: brokerRestarted},
	{name: "broker silent", do: brokerSilent},
	{name: "coordinator errors", do: coordinatorErrors},
	{name: "rebalance storm", do: rebalanceStorm},
	{name: "rebalance storm, new consumer protocol", protocol: script.Consumer, do: rebalanceStorm},
	{name: "max.poll.interval exceeded", cannot: needsWatching, do: pollExceeded},
	{name: "transactions, 30 % aborted", do: transactions},
	{name: "broken bytes in a fetch", do: brokenBytes},
}

// needsWatching says why a client does not leave the group when it is polled no more.
func needsWatching() string {
	if os.Getenv(script.Library) == "franz" {
		return "franz-go sends heartbeats whether it is polled or not"
	}
	return ""
}

func connectionsCut(ctx context.Context, t *theatre) (string, error) {
	const cuts = 25
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	err := t.repeat(ctx, cuts, 250*time.Millisecond, func(int) error { t.kafka.CutAll(); return nil })
	return fmt.Sprintf("%d times all of them", cuts), err
}

func brokerAway(ctx context.Context, t *theatre) (string, error) {
	const times = 2
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	err := t.repeat(ctx, times, time.Second, func(int) error {
		t.kafka.Refuse(true)
		err := stage.Pause(ctx, 3*time.Second)
		t.kafka.Refuse(false)
		if err == nil {
			err = t.moves(ctx, 200, patience)
		}
		return err
	})
	return fmt.Sprintf("%d times for 3 s, longer than the group waits", times), err
}

// brokerRestarted stops the broker for a moment and for longer than the group waits. It comes
// back with its log.
func brokerRestarted(ctx context.Context, t *theatre) (string, error) {
	const times = 4
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	err := t.repeat(ctx, times, time.Second, func(i int) error {
		t.broker.Stop()
		err := stage.Pause(ctx, time.Duration(i%2*3000+200)*time.Millisecond)
		if err := errors.Join(err, t.broker.Start()); err != nil {
			return err
		}
		return t.movesAll(ctx, patience)
	})
	return fmt.Sprintf("%d times, for 0.2 s and for 3.2 s", times), err
}

// spoken is an error if the group does not speak the protocol that the fault is about.
func (t *theatre) spoken(ctx context.Context) error {
	brokers, err := t.broker.ServerSide(ctx, t.group())
	if err == nil && brokers != (t.fault.protocol == script.Consumer) {
		err = errors.New("the group speaks another protocol")
	}
	return err
}

// brokerSilent keeps connections open and swallows what is sent on them.
func brokerSilent(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	err := t.load(ctx, rate, func() error {
		t.kafka.Silence(cutproxy.Down, true)
		err := stage.Pause(ctx, 4*time.Second)
		t.kafka.Silence(cutproxy.Down, false)
		if err == nil {
			err = t.movesAll(ctx, patience)
		}
		return err
	})
	return "once for 4 s", err
}

// Requests and errors of Kafka's protocol.
const (
	offsetCommit, joinGroup, heartbeat, syncGroup          = 8, 11, 12, 14
	notCoordinator, illegalGeneration, unknownMember int16 = 16, 22, 25
	coordinatorLoading, rebalanceInProgress          int16 = 14, 27
)

func coordinatorErrors(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	failed := 0
	err := t.load(ctx, rate, func() error {
		for _, f := range []idemtest.Failure{
			{Requests: []int16{heartbeat}, Error: notCoordinator, Times: 3},
			{Requests: []int16{heartbeat}, Error: illegalGeneration},
			{Requests: []int16{heartbeat}, Error: unknownMember},
			{Requests: []int16{joinGroup, syncGroup, heartbeat}, Error: coordinatorLoading, Times: 3},
			{Requests: []int16{offsetCommit}, Error: notCoordinator, Times: 2},
			{Requests: []int16{offsetCommit}, Error: unknownMember, Times: 2},
			{Requests: []int16{offsetCommit}, Error: illegalGeneration, Times: 2},
			{Requests: []int16{offsetCommit}, Error: rebalanceInProgress, Times: 2},
		} {
			count := t.broker.Fail(f)
			// Offsets are committed every 5 s, and when partitions are given up.
			wanted := max(1, f.Times)
			if err := stage.Until(ctx, 20*time.Second, func() (bool, error) { return count() >= wanted, t.dead() }); err != nil {
				return fmt.Errorf("error %d for requests %v: %w", f.Error, f.Requests, err)
			}
			failed += count()
			if err := t.movesAll(ctx, patience); err != nil {
				return fmt.Errorf("after error %d for requests %v: %w", f.Error, f.Requests, err)
			}
		}
		return nil
	})
	return fmt.Sprintf("%d requests refused, of 5 errors", failed), err
}

// rebalanceStorm has members come and go all the time; one stays.
func rebalanceStorm(ctx context.Context, t *theatre) (string, error) {
	const rounds = 16
	if err := t.startWorking(ctx, 1); err != nil {
		return "", err
	}
	err := t.repeat(ctx, rounds, 500*time.Millisecond, func(i int) error {
		if i%2 == 0 {
			_, err := t.start(ctx)
			return err
		}
		p := t.running[len(t.running)-1]
		t.forget(p)
		return p.Stop()
	})
	return fmt.Sprintf("a member comes or goes every 0.5 s, %d times", rounds), err
}

// pollExceeded has the polling goroutine stand still: the client leaves the group, the
// partitions go to another process, and the first one comes back.
func pollExceeded(ctx context.Context, t *theatre) (string, error) {
	if _, err := t.start(ctx, script.MaxPoll+"=4s", script.NoPoll+"=9s"); err != nil {
		return "", err
	}
	err := t.load(ctx, rate, func() error {
		if err := t.says(ctx, "stands still", 30*time.Second); err != nil {
			return err
		}
		if _, err := t.start(ctx); err != nil {
			return err
		}
		if err := t.running[1].Works(ctx); err != nil {
			return err
		}
		if err := stage.Pause(ctx, 8*time.Second); err != nil {
			return err
		}
		return t.movesAll(ctx, patience)
	})
	if err == nil && t.logged("lost=true") == 0 {
		err = errors.New("no process lost its partitions")
	}
	return "once, 9 s of 4 s", err
}

// transactions has a producer that aborts: what it aborted must not take effect, and the
// offsets of markers and aborted records are passed.
func transactions(ctx context.Context, t *theatre) (string, error) {
	const n = 40
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	aborted := 0
	for i := range n {
		commit := i%10 >= 3
		var messages []*wire.Message
		if !commit {
			aborted++
			messages = t.doomed(10)
		} else {
			messages = events(20)(t.shop)
		}
		if err := t.broker.ProduceTransaction(ctx, commit, messages...); err != nil {
			return "", err
		}
		if commit {
			t.sent(messages...)
		}
	}
	return fmt.Sprintf("%d transactions, %d aborted", n, aborted), nil
}

// doomed are events on orders that exist, and that nobody may see.
func (l *topicLog) doomed(n int) (messages []*wire.Message) {
	for range n {
		if len(l.messages()) == 0 {
			messages = append(messages, l.shop.Placed(""))
			continue
		}
		messages = append(messages, l.shop.Shipped(), l.shop.Paid())
	}
	return messages
}

// brokenBytes turns a bit of records on their way to the client, which must not believe them.
func brokenBytes(ctx context.Context, t *theatre) (string, error) {
	const bits = 5
	if err := t.startWorking(ctx, 1); err != nil {
		return "", err
	}
	err := t.repeat(ctx, bits, 300*time.Millisecond, func(int) error {
		select {
		case <-t.kafka.Once(cutproxy.Rule{Direction: cutproxy.Down, Match: []byte("order.p"), Do: cutproxy.Flip}):
			return nil
		case <-time.After(20 * time.Second):
			return errors.New("no record passed the proxy in 20 s")
		}
	})
	return fmt.Sprintf("%d bits turned", bits), err
}
