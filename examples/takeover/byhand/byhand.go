// Package byhand is the consumer that package takeover replaces: franz-go, pgx, and a table of the
// ids that it has processed.
package byhand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Tables are made by its own migrations.
const Tables = `
CREATE TABLE accounts (account_id text PRIMARY KEY, cents bigint NOT NULL);
CREATE TABLE processed_messages (event_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT clock_timestamp())`

// Group is its consumer group, and Topic what it reads.
const (
	Group = "payments_projector.v2"
	Topic = "payments.v1"
)

// payment is an event.
type payment struct {
	AccountID string `json:"account_id"`
	Cents     int64  `json:"cents"`
}

// Run consumes until ctx is done. Each batch is one transaction; its offsets are committed in
// Kafka afterwards. A crash in between repeats the batch, whose ids are in the table by then.
func Run(ctx context.Context, brokers string, db *pgxpool.Pool) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.ConsumerGroup(Group), kgo.ConsumeTopics(Topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.BlockRebalanceOnPoll())
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	for {
		fetches := client.PollRecords(ctx, 500)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		records := fetches.Records()
		if err := apply(ctx, db, records); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if err := client.CommitRecords(ctx, records...); err != nil && ctx.Err() == nil {
			return err
		}
		client.AllowRebalance()
	}
}

func apply(ctx context.Context, db *pgxpool.Pool, records []*kgo.Record) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		for _, r := range records {
			id := header(r, "Idempotency-Key")
			if id == "" {
				return fmt.Errorf("%s/%d:%d has no Idempotency-Key", r.Topic, r.Partition, r.Offset)
			}
			var p payment
			if err := json.Unmarshal(r.Value, &p); err != nil {
				return errors.New("a payment cannot be decoded")
			}
			tag, err := tx.Exec(ctx, `INSERT INTO processed_messages (event_id) VALUES ($1) ON CONFLICT DO NOTHING`, id)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				continue // a duplicate
			}
			_, err = tx.Exec(ctx, `INSERT INTO accounts VALUES ($1, $2) ON CONFLICT (account_id) DO UPDATE SET cents = accounts.cents + $2`, p.AccountID, p.Cents)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func header(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}
