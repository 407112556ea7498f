package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

const updateDevice = `UPDATE devices SET readings = readings + 1, temperature = $2 WHERE device_id = $1`

// loop handles the records of a batch one by one, in one transaction.
type loop struct{ db *pgxpool.Pool }

func newLoop(db *pgxpool.Pool) writer { return &loop{db} }

func (l *loop) write(ctx context.Context, batch []*kgo.Record) error {
	return pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		for _, r := range batch {
			if err := handle(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// handle counts a reading for its device, and keeps its temperature.
func handle(ctx context.Context, tx pgx.Tx, r *kgo.Record) error {
	one, err := decode(r)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, updateDevice, one.DeviceID, one.Temperature)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("device %s does not exist", one.DeviceID)
	}
	return nil
}
