// Command sharded is the example of shards as the fault kit needs it: its databases are in the
// environment, and a group misses the process soon.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/shards"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/scripts/internal/client"
	"github.com/idemgen/idemgen/scripts/internal/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("service stopped", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var pools []*pgxpool.Pool
	for url := range strings.SplitSeq(os.Getenv(script.Database), ",") {
		db, err := pgxpool.New(ctx, url)
		if err != nil {
			return err
		}
		defer db.Close()
		pools = append(pools, db)
	}
	consumer, err := shards.NewConsumer(pools[0], idem.WithShards(pools[1:]...))
	if err != nil {
		return err
	}
	source, err := client.Source()
	if err != nil {
		return err
	}
	return consumer.Run(ctx, source)
}
