package catalog

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// freshFor is how long the result of a query is reused for new connections: at a start many are
// opened within a moment, and the query is most of the work of opening one.
const freshFor = time.Second

// Current is the latest result of a query of the catalog (docs/production.md). Every new
// connection and every upkeep queries the catalog, to detect changes that others have made to
// tables.
type Current struct {
	tables []wire.Table
	topics []wire.Topic
	log    *slog.Logger
	asked  atomic.Int64 // number of queries begun
	known  atomic.Pointer[snapshot]
}

// snapshot is the result of one query.
type snapshot struct {
	began   int64     // number of the query: the result of a later one is kept
	at      time.Time // time of the query
	apart   map[string]wire.Apart
	records map[string]bool // topics whose records are waves of their own
	commits map[string]bool // topics at whose commits triggers run
	reasons []Reason
}

// NewCurrent returns a Current without a result.
func NewCurrent(service *wire.Service, log *slog.Logger) *Current {
	return &Current{tables: service.Tables, topics: service.Topics, log: log}
}

// AskAtOpening is like Ask, for a new connection, unless another one has just queried the catalog.
func (c *Current) AskAtOpening(ctx context.Context, conn *pgx.Conn) error {
	if s := c.known.Load(); s != nil && time.Since(s.at) < freshFor {
		return nil
	}
	return c.Ask(ctx, conn)
}

// Ask queries the catalog for everything that the guarantee depends on, and logs changes. The
// error is a [RefusedError] if the service must not start on this database.
func (c *Current) Ask(ctx context.Context, conn *pgx.Conn) error {
	began, at := c.asked.Add(1), time.Now()
	found, err := Read(ctx, conn, c.tables)
	if err != nil {
		return err
	}
	if found.Refused != nil {
		return found.Refused
	}
	now := &snapshot{began: began, at: at, apart: found.Apart, records: map[string]bool{}, commits: map[string]bool{}, reasons: append(found.Why, found.Warnings...)}
	for _, t := range c.topics {
		now.records[t.Name] = slices.ContainsFunc(t.Writes, func(table string) bool { return found.Apart[table] >= wire.ApartRecords })
		now.commits[t.Name] = slices.ContainsFunc(t.Writes, func(table string) bool { return found.AtCommit[table] })
	}
	before := c.known.Load()
	for before == nil || before.began < began {
		if c.known.CompareAndSwap(before, now) {
			break
		}
		before = c.known.Load()
	}
	if before != nil && (before.began > began || slices.Equal(before.reasons, now.reasons)) {
		return nil
	}
	for _, r := range found.Why {
		c.log.Info("writes to a table need more waves: batches have more statements", "table", r.Table, "because", r.Fact, "apart", r.Apart.String())
	}
	for _, r := range found.Warnings {
		c.log.Warn("something added to a table may change the effect of events", "table", r.Table, "warning", r.Fact)
	}
	return nil
}

// RunsAtCommit reports whether a trigger runs when a transaction of a topic commits.
func (c *Current) RunsAtCommit(topic string) bool {
	s := c.known.Load()
	return s != nil && s.commits[topic]
}

// KeepApart passes the result to a batch of a topic.
func (c *Current) KeepApart(b *wire.Batch, topic string) {
	if s := c.known.Load(); s != nil {
		b.KeepApart(s.apart, s.records[topic])
	}
}
