// Command pinger is a service whose effects have their leases in Redis, as the fault kit needs it:
// the generated code of a golden case, and an effect that writes down each of its calls.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/redislease"
	"github.com/idemgen/idemgen/scripts/internal/client"
	"github.com/idemgen/idemgen/scripts/internal/script"
	effects "github.com/idemgen/idemgen/testdata/golden/accepted/effects_on_redis"
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
	db, err := pgxpool.New(ctx, os.Getenv(script.Database))
	if err != nil {
		return err
	}
	defer db.Close()
	store := redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: strings.Split(os.Getenv(script.Redis), ","), ReadTimeout: time.Second, DialTimeout: time.Second,
	})
	defer store.Close()
	consumer, err := effects.NewConsumer(db, service{db: db}, idem.WithLeases(redislease.New(store)))
	if err != nil {
		return err
	}
	source, err := client.Source()
	if err != nil {
		return err
	}
	return consumer.Run(ctx, source)
}

// service calls out into a table, by itself: what a call did is not taken back.
type service struct {
	effects.Service
	db *pgxpool.Pool
}

// UserPinged implements effects.Handler.
func (s service) UserPinged(ctx context.Context, e effects.UserPinged) error {
	_, err := s.db.Exec(ctx, `INSERT INTO calls (event) VALUES ($1)`, e.EventID)
	if err == nil {
		time.Sleep(20 * time.Millisecond) // somebody pulls the plug now
	}
	return err
}
