package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// loopQueued does what loop does, in one round trip: what is done for a record may not depend
// on the answer to a statement of the same batch.
type loopQueued struct{ db *pgxpool.Pool }

func newLoopQueued(db *pgxpool.Pool) writer { return &loopQueued{db} }

func (l *loopQueued) write(ctx context.Context, batch []*kgo.Record) error {
	return pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		var queued pgx.Batch
		devices := make([]string, len(batch))
		for i, r := range batch {
			one, err := decode(r)
			if err != nil {
				return err
			}
			devices[i] = one.DeviceID
			queued.Queue(updateDevice, one.DeviceID, one.Temperature)
		}
		results := tx.SendBatch(ctx, &queued)
		defer results.Close()
		for _, device := range devices {
			tag, err := results.Exec()
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return fmt.Errorf("device %s does not exist", device)
			}
		}
		return results.Close()
	})
}
