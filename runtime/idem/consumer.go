package idem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/notify"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/report"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Consumer applies the events of one spec. Generated code constructs it. Its methods are safe for
// concurrent use.
type Consumer struct {
	settings settings
	service  *wire.Service
	shards   []*shard
	leases   lease.Store   // outside of Postgres; nil if there are none
	interval time.Duration // between two runs of upkeep
	reports  time.Duration // between two reports without a change

	run   outage.Condition // of Run
	group outage.Condition // of the Source

	mu       sync.Mutex
	assigned map[Partition]*engine.Partition
}

// New is called by generated constructors. It does no I/O: [Consumer.Run] first queries the
// database, on separate connections that take their address, credentials and MaxConns from db. The
// pool db itself is never used or changed.
func New(db *pgxpool.Pool, service wire.Service, options ...Option) (*Consumer, error) {
	if db == nil {
		return nil, errors.New("idem: New needs a connection pool, got nil")
	}
	c := &Consumer{
		settings: settings{log: slog.Default(), keyMemory: defaultKeyMemory, now: fault.Now},
		service:  &service, assigned: map[Partition]*engine.Partition{}, interval: upkeepInterval, reports: report.Every,
	}
	for _, o := range options {
		o(&c.settings)
	}
	c.settings.log = c.settings.log.With("consumer", service.Consumer)
	var err error
	if c.leases, err = leasesOf(&service, &c.settings); err != nil {
		return nil, err
	}
	if err := checkRates(&service, c.settings.rates); err != nil {
		return nil, err
	}
	hooks, err := notify.New(c.settings.log, c.settings.hooks)
	if err != nil {
		return nil, fmt.Errorf("idem: WithHooks: %w", err)
	}
	if err := checkShards(&service, &c.settings); err != nil {
		return nil, err
	}
	all := shared{
		hooks: hooks, budget: keyset.NewBudget(c.settings.keyMemory), counters: &engine.Counters{},
		handlers: &handler.Caller{Consumer: service.Consumer, Limits: &service.Limits, Middleware: c.settings.middleware, Log: c.settings.log},
	}
	pools := append([]*pgxpool.Pool{db}, c.settings.shards...)
	for i, db := range pools {
		c.shards = append(c.shards, c.newShard(db, i, len(pools), all))
	}
	c.run.Set(nil, errNotRun)
	return c, nil
}

// Name returns the consumer's name in the spec.
func (c *Consumer) Name() string { return c.service.Consumer }

// Run consumes from src until ctx is done, finishes the transactions in flight, and returns nil.
// It returns an error only if an operator must act, for example if the database schema is too old
// or the broker rejects the credentials. Run waits out outages of the database and the broker.
func (c *Consumer) Run(ctx context.Context, src Source) error {
	running, fail := context.WithCancelCause(ctx)
	err := c.runShards(running, fail, src)
	fail(nil)
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return nil
	}
	if cause := context.Cause(running); ctx.Err() == nil && cause != context.Canceled {
		return cause // of a database
	}
	return err
}

// runShards runs until ctx is done. fail ends it with the error of a database that an operator
// must mend.
func (c *Consumer) runShards(ctx context.Context, fail context.CancelCauseFunc, src Source) error {
	c.run.Set(nil, errStarting)
	defer func() { c.run.Set(nil, errEnded) }()
	wait, err := c.startShards(ctx, fail)
	defer wait()
	if err != nil {
		fail(err)
		return err
	}
	defer c.close()
	defer c.endEffects()
	defer c.maintain(ctx)()
	defer c.checkLeases(ctx)()
	defer c.group.Begin(c.settings.log, errNotJoined, joinPatience)()
	c.run.Set(c.settings.log, nil)
	defer c.report()() // until the last transaction has ended, even if ctx ends before
	l := c.service.Limits
	return src.Run(ctx, Subscription{
		Group: cmp.Or(c.settings.group, c.service.Consumer), Topics: c.topics(),
		BatchEvents: l.BatchEvents, BatchBytes: l.BatchBytes, BatchWait: l.BatchWait, MaxPollInterval: l.MaxPollInterval, Window: c.window,
	}, (*sink)(c))
}

// window is the shortest window of a topic's keys; 0 if it has none.
func (c *Consumer) window(topic string) time.Duration {
	if t := c.service.Topic(topic); t != nil {
		return cmp.Or(t.Shortest, t.Window, t.Chain)
	}
	return 0
}

// topics are the names of the service's topics.
func (c *Consumer) topics() (names []string) {
	for i := range c.service.Topics {
		names = append(names, c.service.Topics[i].Name)
	}
	return names
}
