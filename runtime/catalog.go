package idem

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// surveyed is what the catalog said last (docs/operations.md): how far the writes of tables
// are kept apart, and which topics' records are waves of their own.
type surveyed struct {
	began   int64 // number of the look: what a later one found stays
	apart   map[string]wire.Apart
	records map[string]bool
	reasons []catalog.Reason
}

// survey asks the catalog what the guarantee rests on. It runs on each connection that is
// opened, and with the upkeep: what others change in tables meanwhile is noticed then.
func (c *Consumer) survey(ctx context.Context, conn *pgx.Conn) error {
	began := c.surveys.Add(1)
	found, err := catalog.Look(ctx, conn, c.service.Tables)
	if err != nil {
		return err
	}
	if found.Refused != nil {
		return found.Refused
	}
	now := &surveyed{began: began, apart: found.Apart, records: map[string]bool{}, reasons: append(found.Why, found.Warnings...)}
	for _, t := range c.service.Topics {
		now.records[t.Name] = slices.ContainsFunc(t.Writes, func(table string) bool { return found.Apart[table] >= wire.ApartRecords })
	}
	before := c.surveyed.Load()
	for before == nil || before.began < began {
		if c.surveyed.CompareAndSwap(before, now) {
			break
		}
		before = c.surveyed.Load()
	}
	if before != nil && (before.began > began || slices.Equal(before.reasons, now.reasons)) {
		return nil
	}
	for _, r := range found.Why {
		c.log.Info("writes of a table are kept apart: batches of it have more statements", "table", r.Table, "because", r.Fact, "apart", r.Apart.String())
	}
	for _, r := range found.Warnings {
		c.log.Warn("a constraint is checked at commit only: which records a transaction holds may decide what is refused", "table", r.Table, "constraint", r.Fact)
	}
	return nil
}

// keepApart tells a batch of a topic what the catalog said.
func (s *surveyed) keepApart(b *wire.Batch, topic string) {
	if s != nil {
		b.KeepApart(s.apart, s.records[topic])
	}
}

// refusedDatabase reports whether an error says that the service must not start on this database.
func refusedDatabase(err error) bool {
	_, final := errors.AsType[*catalog.RefusedError](err)
	return final
}
