package idem

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// inspect looks whether an idle partition's chain still ends with the owner's row: nothing
// else would tell it of an operator, or of a failover that took back what it applied. What is
// in doubt is settled by the next append, not by reading.
func (o *owner) inspect(ctx context.Context) error {
	if state, _ := o.w.at(); state != protocol.Ready || len(o.attempts) > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.c.service.Limits.BatchTimeout)
	defer cancel()
	defer context.AfterFunc(o.quit, cancel)()
	err := o.compareTail(ctx)
	if _, fenced := errors.AsType[*FencedError](err); fenced || o.quit.Err() != nil {
		return err
	}
	if err != nil { // no reason to halt: nothing is refused
		err = &waitError{err: inWords(describe(err))}
	}
	o.w.tell(o, err)
	return nil
}

// pass moves the position to end: no record stands before it. What fails is tried again when
// the partition is idle the next time, or with the next record.
func (o *owner) pass(ctx context.Context, end int64) error {
	_, err := o.transact(ctx, nil, end)
	err = o.judge(nil, err)
	if _, wait := errors.AsType[*waitError](err); wait {
		o.w.tell(o, err)
		return nil
	}
	return err
}

// compareTail takes the protocol's step if the tail is not the owner's.
func (o *owner) compareTail(ctx context.Context) error {
	conn, err := o.c.acquire(ctx, o.tellWait)
	if err != nil {
		return err
	}
	defer conn.Release()
	t, err := tailOf(ctx, conn, o.stream)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return err
	case t.Token == o.tail.Token:
		return nil
	case t.Seq > o.tail.Seq:
		var token UUID
		var kind byte
		var written time.Time
		var info string
		err := conn.QueryRow(ctx, ledger.RowSQL, o.stream, o.tail.Seq).Scan(&token, &kind, &written, &info)
		if err == nil && token == o.tail.Token || errors.Is(err, pgx.ErrNoRows) { // or it was removed, with all so old
			_, err = o.resolve(ctx, conn)
		}
		if err != nil {
			return err
		}
	}
	return o.fenced(protocol.Gone, "the ledger's row of this owner is gone")
}

// inspect is the same for a partition that stands by until a record comes: whether its turn
// is as it was when Standby told it.
func (w *worker) inspect(ctx context.Context) error {
	fenced := &FencedError{Partition: w.id, Reason: "the ledger has changed, or the partition must be taken over first"}
	if state, _ := w.at(); state != protocol.Standby || w.watch.turn == nil {
		return fenced
	}
	if moved, operator, err := w.look(ctx); err != nil || !moved && !operator {
		return nil // Health tells already that the partition stands
	}
	w.watch.turn = nil
	return fenced
}
