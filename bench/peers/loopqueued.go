package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// loopQueued runs a statement for each record, all in one round trip: what is done for a record
// may not depend on the answer to a statement of the same batch. With checked it inserts the keys
// of the batch first, and queues for the records whose keys were new.
type loopQueued struct {
	db      *pgxpool.Pool
	each    statement
	checked bool
	keys    []pgtype.UUID
}

func newLoopQueued(db *pgxpool.Pool) writer { return &loopQueued{db: db, each: updateDevice} }

func newLoopCheckedQueued(db *pgxpool.Pool) writer {
	return &loopQueued{db: db, each: updateDevice, checked: true}
}

func newPaymentsLoopQueued(db *pgxpool.Pool) writer { return &loopQueued{db: db, each: insertPayment} }

func newPaymentsLoopCheckedQueued(db *pgxpool.Pool) writer {
	return &loopQueued{db: db, each: insertPayment, checked: true}
}

func (l *loopQueued) write(ctx context.Context, batch []*kgo.Record) error {
	l.keys = l.keys[:0]
	for _, r := range batch {
		if !l.checked {
			break
		}
		key, err := keyOf(r)
		if err != nil {
			return err
		}
		l.keys = append(l.keys, key)
	}
	return pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		var fresh map[pgtype.UUID]struct{}
		if l.checked {
			var err error
			if fresh, err = insertNewKeys(ctx, tx, l.keys); err != nil {
				return err
			}
		}
		var queued pgx.Batch
		taken := make([]*kgo.Record, 0, len(batch))
		for i, r := range batch {
			if l.checked {
				if _, ok := fresh[l.keys[i]]; !ok {
					continue
				}
				delete(fresh, l.keys[i]) // a copy in the same batch
			}
			args, err := l.each.args(r)
			if err != nil {
				return err
			}
			taken = append(taken, r)
			queued.Queue(l.each.sql, args...)
		}
		results := tx.SendBatch(ctx, &queued)
		defer results.Close()
		for _, r := range taken {
			tag, err := results.Exec()
			if err != nil {
				return err
			}
			if err := wrote(r, tag); err != nil {
				return err
			}
		}
		return results.Close()
	})
}
