package idem

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/copies"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/footprint"
	"github.com/idemgen/idemgen/runtime/internal/frequency"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Consumer applies the events of one spec. Generated code constructs it. Its methods may
// be called from several goroutines.
type Consumer struct {
	service    wire.Service
	db         *pgxpool.Pool // the service's; only its configuration is used
	log        *slog.Logger
	observer   Observer
	middleware []Middleware
	stats      counters
	warnings   frequency.Throttle
	filters    *generation.Filters
	upkeep     *maintain.Job
	audit      *copies.Audit
	interval   time.Duration // between two runs of upkeep
	keyMemory  *keyset.Budget
	texts      footprint.Memo // of handlers' statements
	now        func() time.Time
	surveyed   atomic.Pointer[surveyed]
	surveys    atomic.Int64 // looks at the catalog that began

	connecting sync.Mutex
	sessions   *pgxpool.Pool // the runtime's own, with its session settings; guarded by connecting

	prober *outage.Prober   // for all partitions that wait for the database
	run    outage.Condition // of Run
	group  outage.Condition // of the Source

	mu      sync.Mutex
	workers map[Partition]*worker // of the partitions that are assigned
	fences  frequency.Hour        // foreign ones

	memories sync.Map // Partition -> *keyset.Set that counts
}

// New is called by generated constructors. It does no I/O: the database is first asked by
// [Consumer.Run] or [Consumer.Own], on connections of their own that take their address,
// credentials and MaxConns from db; db itself is never used or changed.
func New(db *pgxpool.Pool, service wire.Service, options ...Option) (*Consumer, error) {
	if db == nil {
		return nil, errors.New("idem: New needs a connection pool, got nil")
	}
	c := &Consumer{
		service: service, db: db, log: slog.Default(), keyMemory: keyset.NewBudget(defaultKeyMemory), now: fault.Now,
		workers: map[Partition]*worker{},
	}
	for _, o := range options {
		o(c)
	}
	c.filters = generation.NewFilters(service.Consumer, filterBytes, c.upkeepSession, c.log)
	c.audit = c.newAudit()
	c.upkeep, c.interval = c.newUpkeep(), upkeepInterval
	c.prober = &outage.Prober{Try: c.probe}
	c.run.Set(nil, errNotRun)
	return c, nil
}

// Run consumes from src until ctx ends, finishes the transactions begun, and returns nil.
// Any other return is an error that needs a person: a database schema that is too old,
// wrong credentials of the broker. Outages of database and broker are waited out.
func (c *Consumer) Run(ctx context.Context, src Source) error {
	c.run.Set(nil, errStarting)
	defer func() { c.run.Set(nil, errEnded) }()
	if err := c.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer c.Close()
	defer c.maintain(ctx)()
	defer c.group.Begin(c.log, errNotJoined, joinPatience)()
	c.run.Set(c.log, nil)
	l := c.service.Limits
	err := src.Run(ctx, Subscription{
		Group: c.service.Consumer, Topics: c.topics(),
		BatchEvents: l.BatchEvents, BatchBytes: l.BatchBytes, BatchWait: l.BatchWait, MaxPollInterval: l.MaxPollInterval, Retention: c.retention(),
	}, (*sink)(c))
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return nil
	}
	return err
}

// Own takes a partition over and returns a writer for it: for tests, drills and programs
// that read records by other means. Whoever wrote the partition before is refused from then
// on. A partition without a ledger starts at offset start. The runtime's tables are kept up
// by [Consumer.Run] only.
func (c *Consumer) Own(ctx context.Context, topic string, partition int32, start int64) (*Writer, error) {
	if _, err := c.pool(ctx); err != nil {
		return nil, err
	}
	w, err := c.newWorker(Partition{Topic: topic, Number: partition})
	if err != nil {
		return nil, err
	}
	o, err := w.take(ctx, claimOf(w.id, start))
	if err != nil {
		return nil, err
	}
	return &Writer{o}, nil
}

// Writer applies records to one partition. It is not safe for concurrent use.
type Writer struct{ owner *owner }

// Next is the offset of the next record to apply.
func (w *Writer) Next() int64 { return w.owner.tail.Next }

// Apply applies records in offset order, as one transaction unless the data of one of them
// is refused. Records below Next are passed over. After an error, calling Apply again with
// the same records is right: what had taken effect is found and not repeated. A
// [FencedError] is final for this writer.
func (w *Writer) Apply(ctx context.Context, records []Message) (Result, error) {
	return w.owner.apply(ctx, records)
}

func (c *Consumer) retention() map[string]time.Duration {
	assumed := map[string]time.Duration{}
	for _, t := range c.service.Topics {
		if t.Retention > 0 {
			assumed[t.Name] = t.Retention
		}
	}
	return assumed
}

func (c *Consumer) topics() []string {
	var names []string
	for _, t := range c.service.Topics {
		names = append(names, t.Name)
	}
	return names
}
