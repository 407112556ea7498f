package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// kafkaTransactions is franz-go's GroupTransactSession, as examples/transactions/eos and
// docs/transactions.md of franz-go have it: the offset and what is sent to another topic are one
// transaction of Kafka's. The effect in Postgres is a transaction beside it. Stable offsets, which
// they require, are what this version of franz-go always fetches.
func kafkaTransactions(ctx context.Context, brokers string, db *pgxpool.Pool) error {
	s, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(brokers), kgo.TransactionalID(fmt.Sprint("booker-", os.Getpid())), kgo.DefaultProduceTopic(bookedTopic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(session), kgo.HeartbeatInterval(session/5), kgo.TransactionTimeout(session*3/4))
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		fetches := s.PollRecords(ctx, 1)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		if err := s.Begin(); err != nil {
			return err
		}
		sent := kgo.AbortingFirstErrPromise(s.Client())
		for _, r := range fetches.Records() {
			if err := book(ctx, db, r.Value); err != nil {
				_, aborted := s.End(ctx, kgo.TryAbort)
				return errors.Join(err, aborted)
			}
			s.Produce(ctx, &kgo.Record{Key: r.Key, Value: r.Value}, sent.Promise())
		}
		if _, err := s.End(ctx, kgo.TransactionEndTry(sent.Err() == nil)); err != nil {
			return err
		}
	}
}
