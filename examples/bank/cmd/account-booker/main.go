// Command account-booker applies the events of package bank to its database, once each.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/confluent"

	"github.com/idemgen/idemgen/examples/bank"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx); err != nil {
		slog.Error("account-booker stopped", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	brokers, dsn := os.Getenv("KAFKA_BROKERS"), os.Getenv("DATABASE_URL")
	if brokers == "" {
		return errors.New("KAFKA_BROKERS is not set")
	}
	if dsn == "" {
		return errors.New("DATABASE_URL is not set")
	}
	db, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	consumer, err := bank.NewConsumer(db, bank.Service{})
	if err != nil {
		return err
	}
	return consumer.Run(ctx, &confluent.Source{
		Brokers: brokers,
		// A process that dies is missed after 6 s, not after the client's 45 s.
		Config: kafka.ConfigMap{"session.timeout.ms": 6000},
	})
}
