package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
)

// victim is the event at which the faults strike.
const victim = events / 2

// fault is one thing that happens to everybody.
type fault struct {
	name string
	do   func(ctx context.Context, c *cell) error
	// many says that the number of events depends on the time, so it is not shown.
	many bool
	// strikesAll says so for ways that apply several events at the same time.
	strikesAll bool
}

var faults = []fault{
	{name: "killed after the commit", do: killed, strikesAll: true},
	{name: "frozen in its transaction", do: frozen, strikesAll: true},
	{name: "reply to the commit lost", do: replyLost},
	{name: "6 events resent", do: resent},
	{name: "Postgres away for 3 s", do: postgresAway, many: true},
	{name: "invalid record", do: invalidRecord},
}

// verdict is the text of a cell.
func verdict(waited bool, lost, doubled int, many bool) string {
	var said []string
	if waited {
		said = append(said, "blocked by the frozen process")
	}
	for _, of := range []struct {
		n    int
		what string
	}{{lost, "lost"}, {doubled, "doubled"}} {
		switch {
		case of.n > 0 && many:
			said = append(said, "some "+of.what)
		case of.n > 0:
			said = append(said, fmt.Sprintf("%d %s", of.n, of.what))
		}
	}
	if len(said) == 0 {
		return "right"
	}
	return strings.Join(said, ", ")
}

// committed fires when Postgres has committed a transaction with the victim, and before the
// process learns of it.
func committed(do cutproxy.Action) cutproxy.Rule {
	rule := cutproxy.AnswerLost("")
	rule.Armed, rule.Do = []byte(name(victim)), do
	return rule
}

// reached fires when the victim is on its way to Postgres.
func reached(do cutproxy.Action) cutproxy.Rule {
	return cutproxy.Rule{Direction: cutproxy.Up, Match: []byte(name(victim)), Do: do}
}

// begin sends all events and starts a process.
func begin(ctx context.Context, c *cell) error {
	if err := c.send(ctx, 0, events); err != nil {
		return err
	}
	return c.start(ctx)
}

// killed is kill -9 between the commit in Postgres and that of the offset.
func killed(ctx context.Context, c *cell) error {
	held := c.wire.Once(committed(cutproxy.Hold))
	if err := begin(ctx, c); err != nil {
		return err
	}
	if err := c.strikes(ctx, held); err != nil {
		return err
	}
	c.current.kill()
	c.wire.Release()
	return c.settle(ctx)
}

// frozen stops the process in its transaction, before the commit, until the group has given its
// partitions to another one, which applies the rest if it can. Then the frozen process continues.
// A way without a transaction is stopped before its statement.
func frozen(ctx context.Context, c *cell) error {
	old := c.wire
	terminated := old.Once(cutproxy.Rule{Direction: cutproxy.Down, Match: []byte("C57P01\x00"), Do: cutproxy.Hold})
	ended := old.Once(committed(cutproxy.Hold))
	held := old.Once(reached(cutproxy.Hold))
	if err := begin(ctx, c); err != nil {
		return err
	}
	if err := c.strikes(ctx, held); err != nil {
		return err
	}
	inTransaction := false
	if err := c.db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction')`).
		Scan(&inTransaction); err != nil {
		return err
	}
	if inTransaction {
		held = old.Once(cutproxy.Rule{Direction: cutproxy.Up, Match: []byte("commit\x00"), Do: cutproxy.Hold})
		old.Release()
		if err := c.strikes(ctx, held); err != nil {
			return err
		}
	}
	zombie := c.current
	if err := zombie.freeze(); err != nil {
		return err
	}
	var err error
	if c.wire, err = c.newProxy(); err != nil {
		return err
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	if err := c.settle(ctx); errors.Is(err, errWaits) {
		c.waited = true
	} else if err != nil {
		return err
	}
	if err := zombie.thaw(); err != nil {
		return err
	}
	old.Release()
	// Its transaction ends, or its successor has terminated its session.
	if err := c.supervise(ctx, func() (bool, error) { return zombie.ended() || is(ended) || is(terminated), nil }); err != nil {
		return err
	}
	old.Release()
	return c.settle(ctx)
}

func is(closed <-chan struct{}) bool {
	select {
	case <-closed:
		return true
	default:
		return false
	}
}

// replyLost cuts the connection when Postgres has committed.
func replyLost(ctx context.Context, c *cell) error {
	cut := c.wire.Once(committed(cutproxy.Reset))
	if err := begin(ctx, c); err != nil {
		return err
	}
	if err := c.strikes(ctx, cut); err != nil {
		return err
	}
	return c.settle(ctx)
}

// resent sends three events again at once, to their partitions, and three after a restart of the
// consumer, to others.
func resent(ctx context.Context, c *cell) error {
	if err := begin(ctx, c); err != nil {
		return err
	}
	if err := c.settle(ctx); err != nil {
		return err
	}
	for i := range 3 {
		if err := c.broker.Produce(ctx, record(i)); err != nil {
			return err
		}
	}
	if err := c.settle(ctx); err != nil {
		return err
	}
	if err := c.current.stop(ctx); err != nil {
		return err
	}
	for i := range 3 {
		again := record(victim + i)
		again.Partition = (again.Partition + 1) % partitions
		if err := c.broker.Produce(ctx, again); err != nil {
			return err
		}
	}
	return c.settle(ctx)
}

// postgresAway has Postgres refuse connections while the second half of the events arrives.
func postgresAway(ctx context.Context, c *cell) error {
	if err := c.send(ctx, 0, victim); err != nil {
		return err
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	if err := c.settle(ctx); err != nil {
		return err
	}
	c.away = true
	c.wire.Refuse(true)
	if err := c.send(ctx, victim, events); err != nil {
		return err
	}
	end := time.Now().Add(3 * time.Second)
	if err := c.supervise(ctx, func() (bool, error) { return time.Now().After(end), nil }); err != nil {
		return err
	}
	c.wire.Refuse(false)
	c.away = false
	return c.settle(ctx)
}

// invalidRecord has a record between the events that is not JSON.
func invalidRecord(ctx context.Context, c *cell) error {
	if err := c.send(ctx, 0, victim); err != nil {
		return err
	}
	invalid := record(victim)
	invalid.Value, invalid.Headers[0].Value = []byte(`{"account_id":`), []byte("invalid")
	c.invalid = 1
	if err := c.broker.Produce(ctx, invalid); err != nil {
		return err
	}
	if err := c.send(ctx, victim, events); err != nil {
		return err
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	return c.settle(ctx)
}
