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

// freshFor is how long an answer holds for connections that are opened: those of one start come
// within a moment, and the question is most of the work of opening one.
const freshFor = time.Second

// Current is what the catalog said last (docs/operations.md). Connections ask it when they are
// opened, and so does each upkeep: then it is noticed what others have changed in tables.
type Current struct {
	tables []wire.Table
	topics []wire.Topic
	log    *slog.Logger
	asked  atomic.Int64 // how often asking began
	known  atomic.Pointer[snapshot]
}

// snapshot is what one answer said.
type snapshot struct {
	began   int64     // number of the question: the answer to a later one stays
	at      time.Time // when it was asked
	apart   map[string]wire.Apart
	records map[string]bool // topics whose records are waves of their own
	commits map[string]bool // topics at whose commits triggers run
	reasons []Reason
}

// NewCurrent knows nothing yet.
func NewCurrent(service *wire.Service, log *slog.Logger) *Current {
	return &Current{tables: service.Tables, topics: service.Topics, log: log}
}

// AskAtOpening is Ask for a connection that was opened, unless another one has just asked.
func (c *Current) AskAtOpening(ctx context.Context, conn *pgx.Conn) error {
	if s := c.known.Load(); s != nil && time.Since(s.at) < freshFor {
		return nil
	}
	return c.Ask(ctx, conn)
}

// Ask asks the catalog what the guarantee rests on, and logs what is new. The error is a
// [RefusedError] if the service must not start on this database.
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
		c.log.Info("writes of a table are kept apart: batches of it have more statements", "table", r.Table, "because", r.Fact, "apart", r.Apart.String())
	}
	for _, r := range found.Warnings {
		c.log.Warn("something added to a table may change the effect of events", "table", r.Table, "warning", r.Fact)
	}
	return nil
}

// RunsAtCommit reports whether somebody's trigger runs when a transaction of a topic commits.
func (c *Current) RunsAtCommit(topic string) bool {
	s := c.known.Load()
	return s != nil && s.commits[topic]
}

// KeepApart tells a batch of a topic what the catalog said.
func (c *Current) KeepApart(b *wire.Batch, topic string) {
	if s := c.known.Load(); s != nil {
		b.KeepApart(s.apart, s.records[topic])
	}
}
