package idem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
	"github.com/idemgen/idemgen/runtime/internal/notify"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/wire"
)

// shard is one of the databases of a consumer, with the partitions whose rows it has: those whose
// numbers, divided by the number of shards, leave the shard's number. Without [WithShards] a
// consumer has one shard.
type shard struct {
	process *engine.Process
	upkeep  *maintain.Job
	start   outage.Condition // until the database is reached for the first time

	expired atomic.Int64             // counted by upkeep
	open    atomic.Pointer[openDead] // the same
}

// filterBytes is the memory of all filters of a consumer: enough for 100 million keys.
const filterBytes = 256 << 20

// shared is what the shards of a consumer have in common.
type shared struct {
	hooks    *notify.Hooks
	handlers *handler.Caller
	budget   *keyset.Budget
	counters *engine.Counters
}

// newShard returns shard number i of n.
func (c *Consumer) newShard(db *pgxpool.Pool, i, n int, all shared) *shard {
	service, s := c.service, &c.settings
	known := catalog.NewCurrent(service, s.log)
	statements := engine.Statements(service)
	if s.effects != nil {
		statements = append(statements, s.effects.Statements()...)
	}
	connections := pool.New(db, service, known, statements)
	p := &engine.Process{
		Service: service, Log: s.log, Hooks: all.hooks, Pool: connections, Catalog: known, Shard: engine.Shard{Number: int32(i), Of: int32(n)},
		Keys: &keys.Process{
			Consumer: service.Consumer, Budget: all.budget, Now: s.now, Log: s.log,
			Filters: generation.NewFilters(service.Consumer, filterBytes, connections.Background, s.log),
		},
		Handlers: all.handlers,
		Prober:   &outage.Prober{Try: connections.Ping},
		Counters: all.counters,
	}
	if s.effects != nil {
		p.Calls = s.effects.Of(engine.Caller{
			Consumer: service.Consumer, Who: engine.Who(), Pool: connections, Leases: c.leases, Most: service.Limits.Effects, Log: s.log, Hooks: all.hooks,
		})
	}
	d := &shard{process: p}
	d.upkeep = c.newUpkeep(d)
	return d
}

// shardOf returns the shard of a partition.
func (c *Consumer) shardOf(p Partition) *shard { return c.shards[int(p.Number)%len(c.shards)] }

// named adds the number of the shard to what is said of it, if there are several.
func (d *shard) named(err error) error {
	if d.process.Shard.Of == 1 || err == nil {
		return err
	}
	return fmt.Errorf("%v: %w", d.process.Shard, err)
}

// checkShards returns an error for what does not work with several databases.
func checkShards(service *wire.Service, s *settings) error {
	if len(s.shards) == 0 {
		return nil
	}
	if slices.Contains(s.shards, nil) {
		return errors.New("idem: WithShards: a connection pool is nil")
	}
	for i := range service.Topics {
		t := &service.Topics[i]
		switch {
		case t.Window > 0:
			return fmt.Errorf("idem: WithShards: topic %s has keys with copies: anywhere, and a database does not know the keys of another: declare copies: same_partition, or keys that are offsets", t.Name)
		case t.Locks:
			return fmt.Errorf("idem: WithShards: effects of topic %s have locks, and those of one database, also in a lease store, do not hold off calls of another", t.Name)
		}
	}
	return nil
}

// startShards connects to the databases, and returns when one was reached: an outage of another is
// waited out while this one works. fail is called with the error of a database that an operator
// must mend. The returned function waits for all.
func (c *Consumer) startShards(ctx context.Context, fail func(error)) (wait func(), err error) {
	started := make(chan error, len(c.shards))
	var all sync.WaitGroup
	for _, d := range c.shards {
		d.start.Set(nil, errStarting)
		all.Go(func() {
			err := d.named(d.process.Pool.Start(ctx, func(why error) { d.start.Set(c.settings.log, d.named(why)) }))
			if err == nil {
				d.start.Set(c.settings.log, nil)
			} else if ctx.Err() == nil {
				fail(err)
			}
			started <- err
		})
	}
	return all.Wait, <-started
}

// calls are the calls of effects, by shard; none if no event has one.
func (c *Consumer) calls() (all []engine.Calls) {
	for _, d := range c.shards {
		if d.process.Calls != nil {
			all = append(all, d.process.Calls)
		}
	}
	return all
}

// callStats adds what the shards count.
func (c *Consumer) callStats() (all idemtype.CallStats) {
	for _, calls := range c.calls() {
		all.Add(calls.Stats())
	}
	return all
}
