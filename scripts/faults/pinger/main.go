// Command pinger is a service of users, as the fault kit needs it: the generated code of a case,
// which the argument names by its consumer, and effects that write down each of their calls.
package main

import (
	"context"
	"fmt"
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
	"github.com/idemgen/idemgen/testdata/golden/behaviour/visits"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		slog.Error("service stopped", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, consumer string) error {
	db, err := pgxpool.New(ctx, os.Getenv(script.Database))
	if err != nil {
		return err
	}
	defer db.Close()
	source, err := client.Source()
	if err != nil {
		return err
	}
	var c *idem.Consumer
	if consumer == "visits" {
		c, err = visits.NewConsumer(db)
	} else {
		c, err = newPings(db)
	}
	if err != nil {
		return err
	}
	return c.Run(ctx, source)
}

// newPings returns the consumer with effects. Its leases are in Postgres, unless there is a Redis.
func newPings(db *pgxpool.Pool) (*idem.Consumer, error) {
	calls, err := os.OpenFile(os.Getenv(script.Provider), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	s := service{calls: calls}
	if text := os.Getenv(script.LongCall); text != "" {
		if s.long, err = time.ParseDuration(text); err != nil {
			return nil, err
		}
	}
	var options []idem.Option
	if addresses := os.Getenv(script.Redis); addresses != "" {
		options = append(options, idem.WithLeases(redislease.New(redis.NewUniversalClient(&redis.UniversalOptions{
			Addrs: strings.Split(addresses, ","), ReadTimeout: time.Second, DialTimeout: time.Second,
		}))))
	}
	return effects.NewConsumer(db, s, options...)
}

// service calls out into a file: what a call did is not taken back.
type service struct {
	effects.Service
	calls *os.File
	long  time.Duration
}

// UserPinged implements effects.Handler.
func (s service) UserPinged(ctx context.Context, e effects.UserPinged) error {
	return s.call(ctx, e.EventID)
}

// UserCharged implements effects.Handler.
func (s service) UserCharged(ctx context.Context, e effects.UserCharged) error {
	return s.call(ctx, e.EventID)
}

func (s service) call(ctx context.Context, event idem.UUID) error {
	d, _ := idem.DeliveryFrom(ctx)
	note := func(what string) error {
		_, err := fmt.Fprintf(s.calls, "%s %s %d %d %d\n", what, event, d.Token, os.Getpid(), time.Now().UnixNano())
		return err
	}
	if err := note("begin"); err != nil {
		return idem.NotDone(err)
	}
	took := 20 * time.Millisecond // somebody pulls the plug now
	if event[15]%50 < 2 {         // two in a row, of both types
		took = max(took, s.long)
	}
	select {
	case <-time.After(took):
		return note("end")
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", context.Cause(ctx), note("end"))
	}
}
