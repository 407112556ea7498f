package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

// notice is what a record's value holds, as far as it is used.
type notice struct {
	NoticeID string `json:"notice_id"`
}

func decodeNotice(r *kgo.Record) (notice, error) {
	var one notice
	if err := json.Unmarshal(r.Value, &one); err != nil {
		return one, fmt.Errorf("partition %d, offset %d: %w", r.Partition, r.Offset, err)
	}
	return one, nil
}

// calls is how many notices of a partition are sent at the same time; four partitions have 64.
const calls = 16

// send calls somebody, and takes no time.
func send(_ context.Context, n notice) (receipt string, err error) {
	return "receipt of " + n.NoticeID, nil
}

// each does something for every record of a batch, up to calls at the same time.
func each(ctx context.Context, batch []*kgo.Record, do func(ctx context.Context, i int, key pgtype.UUID, n notice) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(calls)
	for i, r := range batch {
		g.Go(func() error {
			key, err := keyOf(r)
			if err != nil {
				return err
			}
			n, err := decodeNotice(r)
			if err != nil {
				return err
			}
			return do(ctx, i, key, n)
		})
	}
	return g.Wait()
}

// notices asks Postgres twice for each record: it claims the key, calls, and stores what came of
// the call with the row. Who finds a claim that is not done leaves the record to its lease.
type notices struct{ db *pgxpool.Pool }

func newNotices(db *pgxpool.Pool) writer { return &notices{db} }

const (
	claimNotice = `
INSERT INTO claims AS c (key, until) VALUES ($1, now() + interval '1 minute')
ON CONFLICT (key) DO UPDATE SET until = excluded.until WHERE c.receipt IS NULL AND c.until < now()`
	storeNotice = `
WITH done AS (UPDATE claims SET receipt = $3 WHERE key = $1)
INSERT INTO notices (notice_id, receipt) VALUES ($2, $3)`
)

func (n *notices) write(ctx context.Context, batch []*kgo.Record) error {
	return each(ctx, batch, func(ctx context.Context, _ int, key pgtype.UUID, one notice) error {
		tag, err := n.db.Exec(ctx, claimNotice, key)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		receipt, err := send(ctx, one)
		if err != nil {
			return err
		}
		_, err = n.db.Exec(ctx, storeNotice, key, one.NoticeID, receipt)
		return err
	})
}
