// Command catalog-prices applies the events of package prices to its database, once each.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/confluent"

	"github.com/idemgen/idemgen/examples/catalog/prices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx); err != nil {
		slog.Error("catalog-prices stopped", "err", err)
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
	consumer, err := prices.NewConsumer(db)
	if err != nil {
		return err
	}
	return consumer.Run(ctx, &confluent.Source{Brokers: brokers})
}
