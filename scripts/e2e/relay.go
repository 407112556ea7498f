package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/confluent/producer"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// relayChecks are about outbox.Relay.
var relayChecks = []check{
	{name: "from an outbox to a service, by relays that die", do: wholeRoad},
	{name: "relay: killed between acknowledgement and delete", do: relayKilled},
	{name: "relay: two of them, and the one that leads is killed", do: relayTwice},
	{name: "relay: a transaction that commits late", do: relayLate},
	{name: "relay: an event of 2 MiB", do: relayLarge},
	{name: "relay: the broker is away", do: relayAlone},
}

// desk is a database with an outbox, its topic, and the book of what was written.
type desk struct {
	book
	k       *kit
	db      *database
	started []*stage.Process
}

func (k *kit) openDesk(ctx context.Context, kind string) (*desk, error) {
	db, err := openDatabase(ctx, nil, outbox.Migration(outbox.ByRelay))
	if err != nil {
		return nil, err
	}
	d := &desk{book: book{kind: kind}, k: k, db: db}
	if err := k.makeTopic(ctx, d.topic(), partitions); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *desk) close() error {
	var errs []error
	for _, p := range d.started {
		errs = append(errs, p.Kill())
	}
	return errors.Join(append(errs, d.db.close())...)
}

// send starts a relay in a process of its own. It kills itself at an acknowledgement, 0 is none.
func (d *desk) send(ctx context.Context, dieAt int) (*stage.Process, error) {
	return d.sendTo(ctx, "", dieAt)
}

// sendTo is send to one topic for all events; "" is that of each.
func (d *desk) sendTo(ctx context.Context, topic string, dieAt int) (*stage.Process, error) {
	p, err := stage.Start(ctx, []string{
		script.Brokers + "=" + d.k.broker.Addr(), script.Database + "=" + d.db.URL(), fmt.Sprintf("%s=%d", script.DieAt, dieAt), script.Relayed + "=" + topic,
	}, d.k.program("sender"))
	if err == nil {
		d.started = append(d.started, p)
	}
	return p, err
}

// relay runs a relay in this process until stop is called.
func (k *kit) relay(ctx context.Context, db *database, config kafka.ConfigMap, edit func(*outbox.Relay)) (r *outbox.Relay, stop func(), err error) {
	all := kafka.ConfigMap{quiet: 0}
	maps.Copy(all, config)
	sender, err := producer.New(k.broker.Addr(), all)
	if err != nil {
		return nil, nil, err
	}
	r = &outbox.Relay{DB: db.pool, Producer: sender, Logger: slog.New(slog.DiscardHandler)}
	if edit != nil {
		edit(r)
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = r.Run(ctx) }) // its only error is about fields that are set
	return r, sync.OnceFunc(func() {
		cancel()
		running.Wait()
		sender.Close()
	}), nil
}

// empty waits until nothing waits to be sent.
func (d *desk) empty(ctx context.Context) error {
	left := 0
	err := stage.Until(ctx, patience, func() (bool, error) {
		var err error
		left, err = d.db.count(ctx, `SELECT count(*) FROM idem_outbox`)
		return left == 0, err
	})
	if err != nil {
		return fmt.Errorf("%d events wait: %w", left, err)
	}
	return nil
}

func relayKilled(ctx context.Context, k *kit) (_ string, err error) {
	d, err := k.openDesk(ctx, "killed")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	const events = 300
	if err := d.write(ctx, d.db, events); err != nil {
		return "", err
	}
	mortal, err := d.send(ctx, 37)
	if err != nil {
		return "", err
	}
	if !mortal.Wait(patience) {
		return "", fmt.Errorf("the relay was not killed; last lines:\n%s", mortal.Log)
	}
	if n, err := d.db.count(ctx, `SELECT count(*) FROM idem_outbox`); err != nil || n == 0 {
		return "", fmt.Errorf("the relay was killed behind its work: %d events wait (%v)", n, err)
	}
	if _, err := d.send(ctx, 0); err != nil {
		return "", err
	}
	if err := d.empty(ctx); err != nil {
		return "", err
	}
	again, err := d.arrived(ctx, k, 2)
	if err == nil && again == 0 {
		err = errors.New("no event came twice: the relay was not killed between acknowledgement and delete")
	}
	return fmt.Sprintf("%d events, %d came twice, none is lost", events, again), err
}

func relayTwice(ctx context.Context, k *kit) (_ string, err error) {
	d, err := k.openDesk(ctx, "twice")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	for range 2 {
		if _, err := d.send(ctx, 0); err != nil {
			return "", err
		}
	}
	const leads = "the relay leads"
	var leader, other *stage.Process
	err = stage.Until(ctx, patience, func() (bool, error) {
		a, b := d.started[0], d.started[1]
		if b.Log.Count(leads) > 0 {
			a, b = b, a
		}
		leader, other = a, b
		return leader.Log.Count(leads) > 0, errors.Join(a.Dead(), b.Dead())
	})
	if err != nil {
		return "", err
	}
	for i := range 30 {
		if err := d.write(ctx, d.db, 20); err != nil {
			return "", err
		}
		if i == 15 {
			if other.Log.Count(leads) > 0 {
				return "", errors.New("both relays lead")
			}
			if err := leader.Kill(); err != nil {
				return "", err
			}
		}
	}
	if err := d.empty(ctx); err != nil {
		return "", err
	}
	if other.Log.Count(leads) != 1 {
		return "", fmt.Errorf("the other relay does not lead; last lines:\n%s", other.Log)
	}
	again, err := d.arrived(ctx, k, 2)
	return fmt.Sprintf("%d events, %d came twice, none is lost", len(d.events), again), err
}

func relayLate(ctx context.Context, k *kit) (_ string, err error) {
	d, err := k.openDesk(ctx, "late")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	_, stop, err := k.relay(ctx, d.db, nil, nil)
	if err != nil {
		return "", err
	}
	defer stop()
	late, err := d.db.pool.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = late.Rollback(context.WithoutCancel(ctx)) }() // it is committed, unless something failed
	first := d.next(1)
	if err := outbox.Write(ctx, late, first...); err != nil {
		return "", err
	}
	if err := d.write(ctx, d.db, 9); err != nil { // of the other aggregates
		return "", err
	}
	d.events = d.events[1:]
	if err := d.empty(ctx); err != nil { // as everybody else sees it
		return "", err
	}
	if _, err := d.arrived(ctx, k, 1); err != nil {
		return "", err
	}
	if err := late.Commit(ctx); err != nil {
		return "", err
	}
	d.events = append(d.events, first...)
	if _, err := d.arrived(ctx, k, 1); err != nil {
		return "", err
	}
	return "the lowest number came last, and was sent", d.empty(ctx)
}

func relayLarge(ctx context.Context, k *kit) (_ string, err error) {
	d, err := k.openDesk(ctx, "large")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	r, stop, err := k.relay(ctx, d.db, kafka.ConfigMap{"message.max.bytes": 4 << 20}, nil) // the broker refuses, not the client
	if err != nil {
		return "", err
	}
	defer stop()
	events := d.next(40)
	events[7].Payload = outbox.Bytes(make([]byte, 2<<20))
	if err := outbox.Write(ctx, d.db.pool, events...); err != nil {
		return "", err
	}
	others := book{kind: d.kind}
	for i, e := range events {
		if i%10 != 7 {
			others.events = append(others.events, e)
		}
	}
	if _, err := others.arrived(ctx, k, 1); err != nil {
		return "", fmt.Errorf("the other aggregates: %w", err)
	}
	if err := says(ctx, r, "1 aggregate is held back"); err != nil {
		return "", err
	}
	if err := k.enlarge(ctx, d.topic()); err != nil {
		return "", err
	}
	if err := d.empty(ctx); err != nil {
		return "", err
	}
	if err := says(ctx, r, ""); err != nil {
		return "", err
	}
	_, err = d.arrived(ctx, k, 1)
	return "refused; it held back its aggregate only, Health said so; sent when the topic took it", err
}

// says waits until Health says a text; "" is no error.
func says(ctx context.Context, r *outbox.Relay, text string) error {
	var health error
	err := stage.Until(ctx, patience, func() (bool, error) {
		health = r.Health()
		return (health == nil) == (text == "") && (health == nil || strings.Contains(health.Error(), text)), nil
	})
	if err != nil {
		return fmt.Errorf("the relay's Health is %v, and not %q: %w", health, text, err)
	}
	return nil
}

// relayAlone takes the broker away while events are written.
func relayAlone(ctx context.Context, k *kit) (_ string, err error) {
	away := time.Minute
	if k.short {
		away = 5 * time.Second
	}
	d, err := k.openDesk(ctx, "alone")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	r, stop, err := k.relay(ctx, d.db, nil, nil)
	if err != nil {
		return "", err
	}
	defer stop()
	if err := d.writeFor(ctx, 2*time.Second); err != nil {
		return "", err
	}
	if err := k.broker.Crash(); err != nil {
		return "", err
	}
	written := d.writeFor(ctx, away)
	saysSo := says(ctx, r, "the broker has accepted no events since")
	if err := errors.Join(written, saysSo, k.broker.Restart(ctx)); err != nil {
		return "", err
	}
	if err := d.empty(ctx); err != nil {
		return "", err
	}
	if err := says(ctx, r, ""); err != nil {
		return "", err
	}
	again, err := d.arrived(ctx, k, 2)
	return fmt.Sprintf("for %v; %d events, %d came twice, none is lost; Health said so", away, len(d.events), again), err
}

// writeFor writes events for a while.
func (d *desk) writeFor(ctx context.Context, much time.Duration) error {
	for end := time.Now().Add(much); time.Now().Before(end); {
		err := d.write(ctx, d.db, 5)
		if err == nil {
			err = stage.Pause(ctx, 100*time.Millisecond)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
