package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	topic     = "bookings.v1"
	group     = "bench-accounts" // what the generated service is called
	keyHeader = "Idempotency-Key"
	session   = 2 * time.Second // after which the group misses a member
)

// way is one of the programs that are compared.
type way struct {
	name string
	// several is whether events of several partitions are applied at the same time, so that a fault
	// of the process meets more than one of them.
	several bool
	// run consumes until ctx ends. Its error ends the process, which is started again.
	run func(ctx context.Context, brokers string, db *pgxpool.Pool) error
}

var ways = []way{
	{name: "franz-go, no check", run: unchecked},
	{name: "ids in a transaction of their own", run: idsApart},
	{name: "ids in the effect's transaction", run: idsTogether},
	{name: "offsets in Postgres", run: offsets},
	{name: "offsets in Postgres, compared", run: offsetsCompared},
	{name: "Watermill", run: watermillRouter, several: true},
	{name: "Kafka transactions", run: kafkaTransactions},
	{name: "**idemgen**", run: generated, several: true},
}

// The environment of a child.
const (
	envWay      = "COMPARE_WAY"
	envBrokers  = "KAFKA_BROKERS"
	envDatabase = "DATABASE_URL"
)

var errNoChild = errors.New("not started as a way")

// serveIfChild runs a way if this process was started as one, until SIGTERM or the end of the
// program that started it, which closes the standard input.
func serveIfChild(ctx context.Context) error {
	name := os.Getenv(envWay)
	if name == "" {
		return errNoChild
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	for _, w := range ways {
		if w.name != name {
			continue
		}
		db, err := pgxpool.New(ctx, os.Getenv(envDatabase))
		if err != nil {
			return err
		}
		defer db.Close()
		return w.run(ctx, os.Getenv(envBrokers), db)
	}
	return fmt.Errorf("no way is called %q", name)
}

// booking is an event: an amount for an account.
type booking struct {
	AccountID string `json:"account_id"`
	Cents     int64  `json:"cents"`
}

// execer is a pool or a transaction.
type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// book is the effect of an event, the same for all ways: the account's balance and the number of
// its bookings grow.
func book(ctx context.Context, db execer, value []byte) error {
	var b booking
	if err := json.Unmarshal(value, &b); err != nil {
		return fmt.Errorf("%w: %w", errInvalid, err)
	}
	_, err := db.Exec(ctx, `UPDATE accounts SET balance = balance + $2, bookings = bookings + 1 WHERE account_id = $1`, b.AccountID, b.Cents)
	return err
}

var errInvalid = errors.New("an event that cannot be decoded")

// consume polls a record, applies it, and commits its offset, as franz-go's example of manual
// commits does (examples/group_consuming, style "records"): at least once.
func consume(ctx context.Context, brokers string, apply func(context.Context, *kgo.Record) error, more ...kgo.Opt) error {
	client, err := kgo.NewClient(append(more,
		kgo.SeedBrokers(brokers), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(session), kgo.HeartbeatInterval(session/5), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())...)
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	for {
		fetches := client.PollRecords(ctx, 1)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		for _, r := range fetches.Records() {
			if err := apply(ctx, r); err != nil {
				return err
			}
			if err := client.CommitRecords(ctx, r); err != nil {
				return err
			}
		}
		client.AllowRebalance()
	}
}

// key is the event's idempotency key.
func key(r *kgo.Record) string {
	for _, h := range r.Headers {
		if h.Key == keyHeader {
			return string(h.Value)
		}
	}
	return ""
}
