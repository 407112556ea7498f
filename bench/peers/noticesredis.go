package main

import (
	"context"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kgo"
)

// noticesRedis asks Redis twice for each record: SET NX claims the key, and a second SET stores
// what came of the call. The rows of a batch are inserted together.
type noticesRedis struct {
	db    *pgxpool.Pool
	redis *redis.Client
}

func newNoticesRedis(db *pgxpool.Pool) writer {
	return &noticesRedis{db, redis.NewClient(&redis.Options{
		Addr: os.Getenv("REDIS_ADDR"),
		// A SET NX that is sent again finds its own claim, and takes it for somebody else's.
		MaxRetries: -1, ReadTimeout: 30 * time.Second,
	})}
}

const insertNotices = `
INSERT INTO notices (notice_id, receipt) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT DO NOTHING`

const claimed = "claimed"

func (n *noticesRedis) write(ctx context.Context, batch []*kgo.Record) error {
	ids, receipts := make([]string, len(batch)), make([]string, len(batch))
	err := each(ctx, batch, func(ctx context.Context, i int, key pgtype.UUID, one notice) (err error) {
		name := "notice:" + key.String()
		ids[i] = one.NoticeID
		fresh, err := n.redis.SetNX(ctx, name, claimed, time.Minute).Result()
		if err != nil {
			return err
		}
		if !fresh {
			receipts[i], err = n.receipt(ctx, name)
			return err
		}
		if receipts[i], err = send(ctx, one); err != nil {
			return err
		}
		return n.redis.Set(ctx, name, receipts[i], time.Hour).Err()
	})
	if err != nil {
		return err
	}
	_, err = n.db.Exec(ctx, insertNotices, ids, receipts)
	return err
}

// receipt waits while a call under the same key is in flight: a copy may be in the same batch.
func (n *noticesRedis) receipt(ctx context.Context, name string) (string, error) {
	for {
		receipt, err := n.redis.Get(ctx, name).Result()
		if err != nil || receipt != claimed {
			return receipt, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
