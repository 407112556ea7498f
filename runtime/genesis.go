package idem

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// chain finds the partition's chain, or makes it.
func (o *owner) chain(ctx context.Context, conn *pgxpool.Conn, a claim) error {
	rows, err := conn.Query(ctx, ledger.StreamsSQL, o.c.service.Consumer, o.id.Topic)
	if err != nil {
		return o.haltIfFinal(err)
	}
	var stream, partition, parts int32
	var topicID UUID
	found, added := false, false
	var recreated bool
	_, err = pgx.ForEachRow(rows, []any{&stream, &topicID, &partition, &parts}, func() error {
		switch {
		case partition != o.id.Number:
			added = added || topicID != a.TopicID || o.id.Number >= parts
		case a.broker && topicID != a.TopicID:
			recreated = true
		default:
			found, o.stream = true, stream
		}
		return nil
	})
	switch {
	case err != nil:
		return o.haltIfFinal(err)
	case recreated && !found:
		return o.haltedWith(halt.TopicRecreated, -1, "the topic was deleted and made again: its offsets are others than those in the ledger", nil,
			o.adoption(a, a.Low))
	case found:
		return nil
	}
	return o.genesis(ctx, conn, a, added)
}

// genesis makes stream and first row, before any record is accepted, at an offset that the
// broker named. There is no second genesis: stream rows are never deleted.
func (o *owner) genesis(ctx context.Context, conn *pgxpool.Conn, a claim, added bool) error {
	start, err := o.startOffset(ctx, a, added)
	if err != nil {
		return err
	}
	if err := o.beside(ctx, conn, a); err != nil {
		return err
	}
	err = conn.QueryRow(ctx, ledger.GenesisSQL, o.c.service.Consumer, o.id.Topic, a.TopicID, o.id.Number,
		newToken(), start, int32(o.c.service.Identity.Writes), a.Partitions, who()).Scan(&o.stream)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "23505" && pg.ConstraintName == "idem_stream_identity" {
		return conn.QueryRow(ctx, ledger.StreamSQL,
			o.c.service.Consumer, o.id.Topic, a.TopicID, o.id.Number).Scan(&o.stream) // another was first
	}
	if err != nil {
		return o.haltIfFinal(err)
	}
	o.c.log.Info("the ledger of a partition begins", "topic", o.id.Topic, "partition", o.id.Number, "offset", start)
	return nil
}

// startOffset is where a partition without a ledger starts. One that was added when others
// had begun, or may have been, starts at the earliest record, so that none is missed.
func (o *owner) startOffset(ctx context.Context, a claim, added bool) (int64, error) {
	from := o.topic.StartFrom
	committed, err := a.Committed(ctx)
	switch {
	case err != nil:
		return 0, err
	case !a.broker:
		return a.start, nil
	case from == wire.Committed && committed >= 0:
		return committed, nil
	case committed >= 0:
		return 0, o.haltedWith(halt.LedgerMissing, -1, "the ledger is missing: the group has a committed offset, but this database never saw the partition (wrong database, restored backup, renamed consumer); "+
			"start_from: committed moves a group over from other code", nil, o.adoption(a, committed))
	case from == wire.Latest && !added:
		return a.High, nil
	}
	return a.Low, nil
}

// adoption is what idemgen stream adopt must know to begin a chain at an offset.
func (o *owner) adoption(a claim, to int64) string {
	return fmt.Sprintf(" --topic-id %s --to %d --partitions %d", a.TopicID, to, a.Partitions)
}
