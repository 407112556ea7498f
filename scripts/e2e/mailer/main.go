// Command mailer is the welcome-mail example with leases in Redis and a mail server that is a
// table: each call of its effect is a row there.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	welcomemail "github.com/idemgen/idemgen/examples/welcome-mail"
	"github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/redislease"
	"github.com/idemgen/idemgen/scripts/internal/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("mailer stopped", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	db, err := pgxpool.New(ctx, os.Getenv(script.Database))
	if err != nil {
		return err
	}
	defer db.Close()
	client := redis.NewClient(&redis.Options{Addr: os.Getenv(script.Redis)})
	defer client.Close()
	consumer, err := welcomemail.NewConsumer(db, service{db}, idem.WithLeases(redislease.New(client)))
	if err != nil {
		return err
	}
	return consumer.Run(ctx, &confluent.Source{Brokers: os.Getenv(script.Brokers), Config: kafka.ConfigMap{"session.timeout.ms": 6000}})
}

// service writes its calls down by itself: what a call did is not taken back.
type service struct{ db *pgxpool.Pool }

// UserCreated implements welcomemail.Handler.
func (s service) UserCreated(ctx context.Context, e welcomemail.UserCreated) (welcomemail.Sent, error) {
	if _, err := s.db.Exec(ctx, `INSERT INTO calls (email) VALUES ($1)`, e.Email); err != nil {
		return welcomemail.Sent{}, err
	}
	time.Sleep(20 * time.Millisecond) // somebody pulls the plug now
	return welcomemail.Sent{MessageID: e.Email, SentAt: time.Now().UTC().Truncate(time.Second)}, nil
}
