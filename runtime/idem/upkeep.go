package idem

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
)

// upkeepInterval is how often a process checks whether upkeep is due.
const upkeepInterval = time.Minute

// maintain starts the upkeep of the consumer's tables. The returned function ends it.
func (c *Consumer) maintain(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { c.upkeep.Run(ctx, c.interval) })
	return func() { cancel(); done.Wait() }
}

func (c *Consumer) newUpkeep() *maintain.Job {
	return &maintain.Job{
		Consumer: c.service.Consumer, Schema: c.service.Schema, Keep: c.process.KeepKeys(), Shares: c.process.SharesKeys, Transaction: 2 * c.service.Limits.BatchTimeout,
		Connect: c.connectUpkeep, Now: c.settings.now, Log: c.settings.log, Expired: &c.expired,
		Open: func(byClass map[string]int64) { c.open.Store(&openDead{time.Now(), byClass}) },
		Ran:  c.process.Hooks.Upkeep,
	}
}

// connectUpkeep opens the upkeep's connection, and reads the catalog again. If somebody planted
// functions or operators, no connection stays in use: Postgres parses a prepared statement again
// after a change of its tables, such as by ANALYZE.
func (c *Consumer) connectUpkeep(ctx context.Context) (*pgx.Conn, error) {
	conn, err := c.process.Pool.Background(ctx)
	if _, refused := errors.AsType[*catalog.RefusedError](err); refused {
		c.process.Pool.Reset()
	}
	if err != nil {
		return nil, err
	}
	if err := c.process.Catalog.Ask(ctx, conn); err != nil && ctx.Err() == nil {
		c.settings.log.Error("the database lacks something that the service needs, or cannot be queried", "err", err)
	}
	return conn, nil
}

// openDead is the number of open dead letters, by class, as the upkeep counted it.
type openDead struct {
	at      time.Time
	byClass map[string]int64
}
