// Command sender is a relay of an outbox in a process of its own, which can be killed.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/scripts/internal/client"
	"github.com/idemgen/idemgen/scripts/internal/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("sender stopped", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	db, err := pgxpool.New(ctx, os.Getenv(script.Database))
	if err != nil {
		return err
	}
	defer db.Close()
	sender, err := client.NewSender()
	if err != nil {
		return err
	}
	defer sender.Close()
	at, _ := strconv.Atoi(os.Getenv(script.DieAt)) // without it there is no such acknowledgement
	relay := &outbox.Relay{DB: db, Producer: &mortal{Producer: sender, at: int64(at)}}
	if topic := os.Getenv(script.Relayed); topic != "" {
		relay.Topic = func(string) string { return topic }
	}
	return relay.Run(ctx)
}

// mortal kills the process when the broker has acknowledged so many records, before the relay
// hears of the last one.
type mortal struct {
	outbox.Producer
	at, acked int64
}

// Produce implements outbox.Producer.
func (m *mortal) Produce(r outbox.Record, done func(error)) {
	m.Producer.Produce(r, func(err error) {
		if err == nil && atomic.AddInt64(&m.acked, 1) == m.at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // nothing runs behind it
			select {}
		}
		done(err)
	})
}
