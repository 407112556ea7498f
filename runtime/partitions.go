package idem

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
)

// spread is the least and the greatest number of partitions that the other chains of a topic
// were written with; 0 if there are none.
type spread struct{ least, most int32 }

// placed reports whether the spec relies on which partition a record is in.
func (o *owner) placed() bool { return o.topic.Ordered || o.topic.Chain > 0 }

// rulesOut is what of the topic's spec relies on it.
func (o *owner) rulesOut() string {
	switch {
	case o.topic.Chain == 0:
		return "assume.ordered_by rules out"
	case !o.topic.Ordered:
		return "copies: same_partition rules out"
	}
	return "assume.ordered_by and copies: same_partition rule out"
}

// partitionsChanged halts until a person says that records may have moved. The command is the
// same for all partitions of the topic, of which some may have no chain yet.
func (o *owner) partitionsChanged(a claim, before int32) error {
	args := fmt.Sprintf(" --partitions %d", a.Partitions)
	if a.Partitions < before { // Kafka takes none away: somebody confirmed too many
		args += " --fewer"
	}
	return o.haltedWith(halt.PartitionsChanged, -1, fmt.Sprintf("the topic has %d partitions, the ledger was written with %d: records of one key may now be in another partition, which %s", a.Partitions, before, o.rulesOut()), nil, args)
}

// beside halts a partition that is to begin while those beside it stand, or will, because
// there are more of them: it may hold later records of a key whose earlier ones are theirs.
func (o *owner) beside(ctx context.Context, conn rower, a claim) error {
	o.w.watch.beside = nil
	if !a.broker || !o.placed() {
		return nil
	}
	s, err := o.w.beside(ctx, conn, a)
	switch {
	case err != nil:
		return o.haltIfFinal(err)
	case s == spread{}:
		return nil
	case s.most > a.Partitions: // first: the command must say so
		err = o.partitionsChanged(a, s.most)
	case s.least != a.Partitions:
		err = o.partitionsChanged(a, s.least)
	}
	if err != nil {
		o.w.watch.beside = &s
	}
	return err
}

// rower is a connection, or a pool of them.
type rower interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func (w *worker) beside(ctx context.Context, db rower, a claim) (s spread, err error) {
	err = db.QueryRow(ctx, ledger.BesideSQL, w.c.service.Consumer, w.id.Topic, a.TopicID, w.id.Number).Scan(&s.least, &s.most)
	return s, err
}
