package idem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
	"github.com/idemgen/idemgen/runtime/internal/notify"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/report"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Consumer applies the events of one spec. Generated code constructs it. Its methods are safe for
// concurrent use.
type Consumer struct {
	settings settings
	service  *wire.Service
	process  *engine.Process // what all partitions share
	leases   lease.Store     // outside of Postgres; nil if there are none
	upkeep   *maintain.Job
	interval time.Duration // between two runs of upkeep
	reports  time.Duration // between two reports without a change

	expired atomic.Int64             // counted by upkeep
	open    atomic.Pointer[openDead] // the same

	run   outage.Condition // of Run
	group outage.Condition // of the Source

	mu       sync.Mutex
	assigned map[Partition]*engine.Partition
}

// New is called by generated constructors. It does no I/O: [Consumer.Run] first queries the
// database, on separate connections with the settings of db, except BeforeAcquire, PrepareConn and
// AfterRelease. MaxConns is how many of them transactions use at most; reports, upkeep and
// take-overs need a few more. The pool db itself is never used or changed.
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
	if slices.ContainsFunc(c.settings.middleware, func(m Middleware) bool { return m == nil }) {
		return nil, errors.New("idem: WithMiddleware: a Middleware is nil")
	}
	if c.settings.keyMemory <= 0 {
		return nil, fmt.Errorf("idem: WithKeyMemory: %d bytes: at least 1 is needed", c.settings.keyMemory)
	}
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
	c.process = c.newProcess(db, hooks)
	c.upkeep = c.newUpkeep()
	c.run.Set(nil, errNotRun)
	return c, nil
}

// Name returns the consumer's name in the spec.
func (c *Consumer) Name() string { return c.service.Consumer }

// filterBytes is the memory of all filters of a consumer: enough for 100 million keys.
const filterBytes = 256 << 20

// newProcess returns what the partitions of this process share.
func (c *Consumer) newProcess(db *pgxpool.Pool, hooks *notify.Hooks) *engine.Process {
	service, s := c.service, &c.settings
	known := catalog.NewCurrent(service, s.log)
	statements := engine.Statements(service)
	if s.effects != nil {
		statements = append(statements, s.effects.Statements()...)
	}
	connections := pool.New(db, service, known, statements)
	p := &engine.Process{
		Service: service, Log: s.log, Hooks: hooks, Pool: connections, Catalog: known,
		Keys: &keys.Process{
			Consumer: service.Consumer, Budget: keyset.NewBudget(s.keyMemory), Now: s.now, Log: s.log,
			Filters: generation.NewFilters(service.Consumer, filterBytes, connections.Background, s.log),
		},
		Handlers: &handler.Caller{Consumer: service.Consumer, Limits: &service.Limits, Middleware: s.middleware, Log: s.log},
		Prober:   &outage.Prober{Try: connections.Ping},
	}
	if s.effects != nil {
		p.Calls = s.effects.Of(engine.Caller{
			Consumer: service.Consumer, Who: engine.Who(), Pool: connections, Now: s.now, Leases: c.leases, Most: service.Limits.Effects, Log: s.log, Hooks: hooks,
		})
	}
	return p
}

// Run consumes from src until ctx is done, and returns nil. The transactions in flight have two
// seconds to finish then; later ones are rolled back, and the next owner applies their records.
// Run waits for running calls of effects, for at most their timeout plus ten seconds. No other Run
// of the consumer may be running.
//
// It returns an error only if an operator must act, for example if the database schema is too old
// or src rejects a setting. Run waits out outages of the database and the broker, and brokers that
// reject the credentials.
func (c *Consumer) Run(ctx context.Context, src Source) error {
	c.run.Set(nil, errStarting)
	defer func() { c.run.Set(nil, errEnded) }()
	c.begin()
	defer c.close()
	if err := c.process.Pool.Start(ctx, func(why error) { c.run.Set(c.settings.log, why) }); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer c.endEffects()
	defer c.maintain(ctx)()
	defer c.checkLeases(ctx)()
	defer c.group.Begin(c.settings.log, errNotJoined, joinPatience)()
	c.run.Set(c.settings.log, nil)
	defer c.report()() // until the last transaction has ended, even if ctx ends before
	l := c.service.Limits
	err := src.Run(ctx, Subscription{
		Group: cmp.Or(c.settings.group, c.service.Consumer), Topics: c.topics(),
		BatchEvents: l.BatchEvents, BatchBytes: l.BatchBytes, BatchWait: l.BatchWait, MaxPollInterval: l.MaxPollInterval, Window: c.window,
	}, (*sink)(c))
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return nil
	}
	return err
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
