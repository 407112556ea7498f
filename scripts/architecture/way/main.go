// Command way has one record pass through a service, built with -cover: first it writes the
// counters of a service that gets no record for a while, then those of three OrderPlaced, one at a
// time. TestWay of package architecture compares them.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/coverage"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// quiet is longer than the time between two of anything that a service does without records.
const quiet = 7 * time.Second

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "way:", err)
		os.Exit(1)
	}
}

// run writes into the folder idle, and then into those of three records.
func run(ctx context.Context, migrations, folder string) (err error) {
	server, err := idemtest.StartPostgres(ctx, idemtest.PostgresOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	db, err := pgxpool.New(ctx, server.URL())
	if err != nil {
		return err
	}
	defer db.Close()
	if err := migrate(ctx, db, migrations); err != nil {
		return err
	}
	broker, err := idemtest.StartBroker(map[string]int32{"orders.v1": 1})
	if err != nil {
		return err
	}
	defer broker.Close()
	consumer, err := orders.NewConsumer(db, orders.Service{}, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(ctx, &franz.Source{Brokers: broker.Addr()}) }()
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	for n := range 20 { // what only the first records do is not counted
		if err := applied(ctx, broker, consumer, n); err != nil {
			return err
		}
	}
	if err := counted(filepath.Join(folder, "idle"), func() error { time.Sleep(quiet); return nil }); err != nil {
		return err
	}
	for n := range 3 {
		err := counted(filepath.Join(folder, fmt.Sprint("record ", n)), func() error { return applied(ctx, broker, consumer, 20+n) })
		if err != nil {
			return err
		}
	}
	return nil
}

func migrate(ctx context.Context, db *pgxpool.Pool, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	slices.Sort(files)
	for _, file := range files {
		text, errRead := os.ReadFile(file)
		if errRead != nil {
			return errRead
		}
		if _, err := db.Exec(ctx, string(text)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return err
}

// applied sends the n-th order, and waits until it is applied.
func applied(ctx context.Context, broker *idemtest.Broker, consumer *idem.Consumer, n int) error {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	err := broker.Produce(ctx, &idem.Message{
		Topic: "orders.v1", Key: []byte(id),
		Value:   fmt.Appendf(nil, `{"order_id": %q, "customer_id": "c", "channel": "web", "total": "10.00", "placed_at": "2026-01-02T03:04:05Z", "items": []}`, id),
		Headers: []idem.Header{{Name: "event-type", Value: []byte("order.placed")}, {Name: "Idempotency-Key", Value: []byte(id)}},
	})
	for end := time.Now().Add(time.Minute); err == nil && consumer.Stats().Applied <= int64(n); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			err = fmt.Errorf("order %d was not applied: %w", n, consumer.Health().Err())
		}
	}
	return err
}

// counted writes the counters of what do does.
func counted(folder string, do func() error) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return errors.Join(coverage.WriteCountersDir(folder), coverage.WriteMetaDir(folder))
}
