package idem

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/wire"
)

// claim is what is known about a partition that is taken over.
type claim struct {
	Assignment
	broker bool // Assignment comes from a broker; else only start is known
	start  int64
}

func claimOf(p Partition, start int64) claim {
	return claim{Assignment: Assignment{Partition: p, Partitions: 1, Committed: -1}, start: start}
}

// fenceTries bounds how often a take-over starts anew because the chain moved meanwhile.
const fenceTries = 20

// assign takes the partition over (PROTOCOL 5): find or make the chain, read its tail,
// check it against the broker, and append a fence. From then on every statement of the
// previous owner fails.
func (o *owner) assign(ctx context.Context, a claim) error {
	pool, err := o.c.pool(ctx)
	if err != nil {
		return err
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("no connection: %w", err)
	}
	defer conn.Release()
	if o.topic.Window > 0 {
		if err := o.c.openGeneration(ctx, conn); err != nil {
			return err
		}
	}
	if err := o.chain(ctx, conn, a); err != nil {
		return err
	}
	for range fenceTries {
		if err := o.readTail(ctx, conn); err != nil {
			return err
		}
		if err := o.policy(a); err != nil {
			return err
		}
		switch err := o.fence(ctx, conn, a); {
		case err == nil:
			return nil
		case classify(err) == classSuccessor || classify(err) == classGone || isLockTimeout(err):
			continue // the chain moved, or its owner is about to append: read it again
		default:
			return o.haltIfFinal(err)
		}
	}
	return fmt.Errorf("the ledger of %s/%d moved %d times while it was taken over", o.id.Topic, o.id.Number, fenceTries)
}

func isLockTimeout(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "55P03"
}

// haltIfFinal turns an error that no retry can cure into a halt.
func (o *owner) haltIfFinal(err error) error {
	if _, ok := errors.AsType[*pgconn.PgError](err); ok && classify(err) == classHalt {
		return o.halted(-1, "the ledger cannot be used", err)
	}
	return err
}

// chain finds the partition's chain, or makes it.
func (o *owner) chain(ctx context.Context, conn *pgxpool.Conn, a claim) error {
	rows, err := conn.Query(ctx, streamsSQL, o.c.service.Consumer, o.id.Topic)
	if err != nil {
		return o.haltIfFinal(err)
	}
	var stream, partition int32
	var topicID UUID
	found, others := false, false
	var recreated bool
	_, err = pgx.ForEachRow(rows, []any{&stream, &topicID, &partition}, func() error {
		switch {
		case partition != o.id.Number:
			others = true
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
		return o.halted(-1, "the topic was deleted and made again: its offsets are others than those in the ledger", nil)
	case found:
		return nil
	}
	return o.genesis(ctx, conn, a, others)
}

// genesis makes stream and first row, before any record is accepted, at an offset that the
// broker named. There is no second genesis: stream rows are never deleted.
func (o *owner) genesis(ctx context.Context, conn *pgxpool.Conn, a claim, others bool) error {
	start, err := o.startOffset(a, others)
	if err != nil {
		return err
	}
	err = conn.QueryRow(ctx, genesisSQL, o.c.service.Consumer, o.id.Topic, a.TopicID, o.id.Number,
		newToken(), start, o.c.service.KeyDef, a.Partitions, who()).Scan(&o.stream)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "23505" && pg.ConstraintName == "idem_stream_identity" {
		return conn.QueryRow(ctx, `SELECT stream FROM idem_stream WHERE consumer = $1 AND topic = $2 AND topic_id = $3 AND partition = $4`,
			o.c.service.Consumer, o.id.Topic, a.TopicID, o.id.Number).Scan(&o.stream) // another was first
	}
	if err != nil {
		return o.haltIfFinal(err)
	}
	o.c.log.Info("the ledger of a partition begins", "topic", o.id.Topic, "partition", o.id.Number, "offset", start)
	return nil
}

// startOffset is where a partition without a ledger starts.
func (o *owner) startOffset(a claim, others bool) (int64, error) {
	from := o.topic.StartFrom
	switch {
	case !a.broker:
		return a.start, nil
	case from == wire.Committed && a.Committed >= 0:
		return a.Committed, nil
	case a.Committed >= 0:
		return 0, o.halted(-1, "the ledger is missing: the group has a committed offset, but this database never saw the partition (wrong database, restored backup, renamed consumer); "+
			"start_from: committed moves a group over from other code", nil)
	case from == wire.Latest && !others:
		return a.High, nil
	}
	return a.Low, nil
}

func (o *owner) readTail(ctx context.Context, conn *pgxpool.Conn) error {
	t := &o.tail
	err := conn.QueryRow(ctx, tailSQL, o.stream).Scan(&t.seq, &t.token, &t.next, &t.epoch, &t.def, &t.parts)
	if errors.Is(err, pgx.ErrNoRows) {
		return o.halted(-1, "the ledger is missing: the partition is known, but its rows are gone", nil)
	}
	if err != nil {
		return o.haltIfFinal(err)
	}
	return nil
}

// policy compares the tail with the broker and the spec before the partition is fenced.
func (o *owner) policy(a claim) error {
	t := o.tail
	if t.def > int32(o.c.service.KeyDef) {
		return o.halted(-1, fmt.Sprintf("the ledger was written with key definition %d, this service has %d: a newer version of it ran here, and going back would compare keys wrongly; deploy that version again", t.def, o.c.service.KeyDef), nil)
	}
	if !a.broker {
		return nil
	}
	switch {
	case o.topic.Ordered && t.parts != a.Partitions:
		return o.halted(-1, fmt.Sprintf("the topic has %d partitions, the ledger was written with %d: records of one key may now be in another partition, which assume.ordered_by rules out", a.Partitions, t.parts), nil)
	case t.next < a.Low:
		return o.halted(-1, fmt.Sprintf("offsets %d to %d were deleted before they were read: the topic's retention overtook the position", t.next, a.Low-1), nil)
	case t.next > a.High:
		return &aheadError{fmt.Sprintf("the log ends at %d, below the ledger's position %d", a.High, t.next)}
	}
	return nil
}

// aheadError may pass: a new leader may lag for a moment. After aheadPatience it halts.
type aheadError struct{ text string }

func (e *aheadError) Error() string { return e.text }

const aheadPatience = 10 * time.Second

// fence appends a row that moves nothing but ends every other owner's memory.
func (o *owner) fence(ctx context.Context, conn *pgxpool.Conn, a claim) error {
	token := newToken()
	var parts []byte
	if a.broker {
		parts = int4(a.Partitions)
	}
	p := newPipeline(ctx, conn.Conn())
	p.add(o.appendStatement(kindFence, token, o.tail.next, o.tail.epoch, int4(int32(o.c.service.KeyDef)), parts, []byte(who())))
	if _, err := p.run(); err != nil {
		return err
	}
	o.tail.seq, o.tail.token, o.tail.def = o.tail.seq+1, token, int32(o.c.service.KeyDef)
	o.durable.Store(o.tail.next)
	return nil
}

// who names this process for people who read the ledger.
func who() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}
