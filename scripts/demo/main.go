// Command demo shows the orders example at work on this machine: a real Postgres, a broker
// in this process that speaks Kafka's protocol, two processes of the generated service of
// which one is killed twice, and every kind of duplicate. It ends with an audit against a
// replay of the log that shares no code with the runtime, and exits 1 if a record was lost
// or took effect twice.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/idemgen/idemgen/scripts/internal/shop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

const (
	topic      = shop.Topic
	partitions = 4
	total      = 40_000
	consumer   = "order-projector"
)

func run(ctx context.Context) (err error) {
	step("building idemgen and the orders example")
	built, err := build(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(built.dir)) }()

	step("starting Postgres and a Kafka broker")
	s, err := startStage(ctx, built)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	log := newLog()
	start := time.Now()
	step("first half: %d records, two processes consume", total/2)
	if err := s.firstHalf(ctx, log[:total/2]); err != nil {
		return err
	}
	step("second half: the group's committed offsets were set back to 0; one process is killed twice")
	if err := s.secondHalf(ctx, log[total/2:]); err != nil {
		return err
	}
	fmt.Printf("  %d records in %.0f s, crashes and pauses included\n", total, time.Since(start).Seconds())

	step("audit: the log is replayed by an interpreter of the spec")
	report, err := newReport(ctx, s.db, log)
	if err != nil {
		return err
	}
	return report.print(os.Stdout)
}

func step(format string, args ...any) { fmt.Printf("\n> "+format+"\n", args...) }
