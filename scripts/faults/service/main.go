// Command service is the orders example as the fault kit needs it: the same generated code
// and handler, and by variables of the environment a way to end itself at a step of a
// batch, handlers that misbehave, and a group that misses a process sooner.
package main

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/client"
	"github.com/idemgen/idemgen/scripts/internal/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx); err != nil {
		slog.Error("service stopped", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(os.Getenv(script.Database))
	if err != nil {
		return err
	}
	db, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer db.Close()
	consumer, err := orders.NewConsumer(db, &handler{how: os.Getenv(script.Handler)})
	if err != nil {
		return err
	}
	source := &slowed{}
	if source.Source, err = client.Source(); err != nil {
		return err
	}
	if source.maxPoll, err = duration(script.MaxPoll, "5m"); err != nil {
		return err
	}
	if source.noPoll, err = duration(script.NoPoll, "0s"); err != nil {
		return err
	}
	by, err := duration(script.Clock, "0s")
	if err != nil {
		return err
	}
	go jump(ctx, by)
	return consumer.Run(exitAt(ctx, os.Getenv(script.ExitAt)), source)
}

// jump moves the process's clock and back, at every SIGUSR1.
func jump(ctx context.Context, by time.Duration) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	defer signal.Stop(asked)
	for ahead := by; ; ahead = by - ahead {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			idemtest.MoveClock(ahead)
			slog.Info("the process's clock jumped", "ahead", ahead)
		}
	}
}

func duration(name, usual string) (time.Duration, error) {
	return time.ParseDuration(cmp.Or(os.Getenv(name), usual))
}

// exitAt ends the process at a step, as a crash there would: no defer runs.
func exitAt(ctx context.Context, where string) context.Context {
	if where == "" {
		return ctx
	}
	step, times, _ := strings.Cut(where, "/")
	wanted, _ := strconv.ParseInt(cmp.Or(times, "1"), 10, 64)
	var seen atomic.Int64
	return idemtest.AtSteps(ctx, func(at string) error {
		if at == step && seen.Add(1) == wanted {
			os.Exit(script.Code)
		}
		return nil
	})
}

// slowed is the source, with another time-out for polling and, once, a polling goroutine
// that stands still.
type slowed struct {
	idem.Source
	maxPoll, noPoll time.Duration
}

// Run implements [idem.Source].
func (s *slowed) Run(ctx context.Context, sub idem.Subscription, sink idem.Sink) error {
	sub.MaxPollInterval = s.maxPoll
	if s.noPoll > 0 {
		sink = &still{Sink: sink, wait: s.noPoll}
	}
	return s.Source.Run(ctx, sub, sink)
}

// still is a sink whose Durable, which the polling goroutine asks, takes its time once.
type still struct {
	idem.Sink
	wait time.Duration
	done bool
}

// Durable implements [idem.Sink].
func (s *still) Durable(p idem.Partition) idem.Commit {
	if d := s.Sink.Durable(p); d.Offset <= 0 || s.done {
		return d
	}
	s.done = true
	slog.Warn("the polling goroutine stands still", "for", s.wait)
	time.Sleep(s.wait)
	return s.Sink.Durable(p)
}
