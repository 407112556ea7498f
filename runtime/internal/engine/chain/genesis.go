package chain

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Existing describes the chains of a topic before a partition is taken over.
type Existing struct {
	Found     bool // the partition's chain
	Recreated bool // a chain of the partition of an earlier topic of that name
	Added     bool // chains of other partitions, begun when the topic may have had fewer partitions
}

// Find finds the chain of a partition, by the topic's id or, if that is nil, by its name alone.
func (c *Chain) Find(ctx context.Context, conn *pgx.Conn, consumer string, p idemtype.Partition, topic *wire.UUID, id wire.UUID) (k Existing, err error) {
	rows, err := conn.Query(ctx, ledger.StreamsSQL, consumer, p.Topic)
	if err != nil {
		return k, err
	}
	var stream, partition, parts int32
	var topicID wire.UUID
	_, err = pgx.ForEachRow(rows, []any{&stream, &topicID, &partition, &parts}, func() error {
		switch {
		case partition != p.Number:
			k.Added = k.Added || topicID != id || p.Number >= parts
		case topic != nil && topicID != *topic:
			k.Recreated = true
		default:
			k.Found, c.stream, c.topic = true, stream, topicID
		}
		return nil
	})
	return k, err
}

// Superseded reports whether another topic of this name was read after the last row of the chain,
// and returns the chain's position.
func (c *Chain) Superseded(ctx context.Context, conn *pgx.Conn) (next int64, is bool, err error) {
	err = conn.QueryRow(ctx, ledger.LaterSQL, c.stream).Scan(&next, &is)
	if errors.Is(err, pgx.ErrNoRows) { // its rows are gone
		err = nil
	}
	return next, is, err
}

// Genesis is the first row of a chain.
type Genesis struct {
	Consumer   string
	Partition  idemtype.Partition
	TopicID    wire.UUID
	Start      int64
	Def        int32
	Partitions int32
}

// Begin creates the stream and its first row, before any record is accepted, at an offset that the
// broker provided. There is no second genesis: stream rows are never deleted. Begin reports false
// if another process was first.
func (c *Chain) Begin(ctx context.Context, conn *pgx.Conn, g Genesis) (first bool, err error) {
	c.topic = g.TopicID
	for range mostUsed {
		err = conn.QueryRow(ctx, ledger.GenesisSQL, g.Consumer, g.Partition.Topic, g.TopicID, g.Partition.Number,
			ledger.NewToken(), g.Start, g.Def, g.Partitions, Who(), "w").Scan(&c.stream)
		switch refused(err) {
		case "idem_stream_identity":
			return false, conn.QueryRow(ctx, ledger.StreamSQL, g.Consumer, g.Partition.Topic, g.TopicID, g.Partition.Number).Scan(&c.stream)
		case "idem_stream_pkey", "seq": // and the number is drawn
			continue
		}
		break
	}
	return err == nil, err
}

// mostUsed limits how many consecutive numbers of streams may be in use already. They are drawn
// again in a database that was moved without its sequences, or whose idem_stream is older than its
// ledger.
const mostUsed = 10_000

// refused returns the unique constraint, or the column, that refused a genesis; "" for other
// errors.
func refused(err error) string {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && pg.Code == "23505":
		return pg.ConstraintName
	case ok && pg.Code == "23502":
		return pg.ColumnName
	}
	return ""
}

// Counts are the smallest and the largest number of partitions with which the other chains of a
// topic were written; zero if there are none.
type Counts struct{ Least, Most int32 }

// Others reads the counts of a topic's other chains.
func Others(ctx context.Context, db Querier, consumer string, p idemtype.Partition, topic wire.UUID) (n Counts, err error) {
	err = db.QueryRow(ctx, ledger.OthersSQL, consumer, p.Topic, topic, p.Number).Scan(&n.Least, &n.Most)
	return n, err
}
