// Command worker consumes RECORDS records with the telemetry example and prints how long
// that took, from the first batch to the last, and its own peak memory.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/telemetry"
	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/confluent"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	records, err := strconv.ParseInt(os.Getenv("RECORDS"), 10, 64)
	if err != nil {
		return err
	}
	db, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer db.Close()
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	consumer, err := telemetry.NewConsumer(db, idem.WithLogger(quiet))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		done <- consumer.Run(ctx, &confluent.Source{Brokers: os.Getenv("KAFKA_BROKERS"), Logger: quiet})
	}()
	seconds, err := watch(ctx, consumer, records, done)
	if err != nil {
		return err
	}
	peak, err := peakMiB()
	if err != nil {
		return err
	}
	stop()
	if err := <-done; err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{"Seconds": seconds, "PeakMiB": peak})
}

// watch waits until all records are applied and returns the time since the first batch.
func watch(ctx context.Context, c *idem.Consumer, records int64, done <-chan error) (float64, error) {
	var first time.Time
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		select {
		case err := <-done:
			return 0, errors.Join(errors.New("the consumer ended early"), err)
		default:
		}
		applied := c.Stats().Applied
		if applied > 0 && first.IsZero() {
			first = time.Now()
		}
		if applied >= records {
			return time.Since(first).Seconds(), nil
		}
	}
	return 0, fmt.Errorf("%d of %d records in 5 minutes: %w", c.Stats().Applied, records, c.Health())
}

// peakMiB is the high-water mark of this process' resident memory, as Linux counts it.
func peakMiB() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("peak memory is measured on Linux only: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kb)[0], 64)
			return n / 1024, err
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}
