package idem

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/copies"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// upkeepInterval is how often a process looks whether tables are to be kept up.
const upkeepInterval = time.Minute

// maintain starts the upkeep of the consumer's tables. The returned function ends it.
func (c *Consumer) maintain(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.upkeep.Run(ctx, c.interval)
	}()
	return func() { cancel(); <-done }
}

func (c *Consumer) newUpkeep() *maintain.Job {
	return &maintain.Job{
		Consumer: c.service.Consumer, Keep: c.keepKeys(), Transaction: 2 * c.service.Limits.BatchTimeout,
		Connect: c.upkeepSurvey, Now: c.now, Log: c.log, Expired: &c.stats.expired,
		Copies: c.audit,
	}
}

// newAudit is the audit of the topics whose keys are in the chains.
func (c *Consumer) newAudit() *copies.Audit {
	windows := map[string]time.Duration{}
	for _, t := range c.service.Topics {
		if t.Chain > 0 {
			windows[t.Name] = t.Chain
		}
	}
	return &copies.Audit{Consumer: c.service.Consumer, Topics: windows, Log: c.log, Found: &c.stats.twoPartitions}
}

// keepKeys is the longest window of keys that all partitions share.
func (c *Consumer) keepKeys() time.Duration {
	keep := time.Duration(0)
	for _, t := range c.service.Topics {
		keep = max(keep, t.Window)
	}
	return keep
}

// upkeepSurvey opens the upkeep's connection, and looks at the catalog again.
func (c *Consumer) upkeepSurvey(ctx context.Context) (*pgx.Conn, error) {
	conn, err := c.upkeepSession(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.survey(ctx, conn); err != nil && ctx.Err() == nil {
		c.log.Error("the database is not as the service needs it, or cannot be asked", "err", err)
	}
	return conn, nil
}

// upkeepSession opens a connection for work in the background, which takes none from
// partitions. Its statements may take long.
func (c *Consumer) upkeepSession(ctx context.Context) (*pgx.Conn, error) {
	return c.connectBeside(ctx, map[string]string{"application_name": "idemgen upkeep", "statement_timeout": "0", "transaction_timeout": "0"})
}

// connectBeside opens a connection beside the pool. It is made as the pool's are, with the
// hooks of the service's pool, such as one that knows the password of the hour, and with
// other settings where they are given; nothing is prepared on it.
func (c *Consumer) connectBeside(ctx context.Context, settings map[string]string) (*pgx.Conn, error) {
	cfg := c.db.Config()
	open := c.opening(cfg, settings)
	if cfg.BeforeConnect != nil {
		if err := cfg.BeforeConnect(ctx, cfg.ConnConfig); err != nil {
			return nil, err
		}
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, session.Explain(err)
	}
	if err := open(ctx, conn); err != nil {
		_ = conn.Close(ctx) // its settings are unknown
		return nil, err
	}
	return conn, nil
}
