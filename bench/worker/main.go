// Command worker consumes a topic with one of the bench's generated packages.
//
//	worker readings|payments|devices|devices-queued|accounts|notices
//
// The environment says where: KAFKA_BROKERS, DATABASE_URL, REDIS_ADDR, RECORDS. When as many
// records are applied it prints one line of JSON, and ends when its standard input does. With
// RECORDS=0 it applies what comes until then, and prints the line at its end.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/bench/accounts"
	"github.com/idemgen/idemgen/bench/devices"
	"github.com/idemgen/idemgen/bench/notices"
	"github.com/idemgen/idemgen/bench/payments"
	"github.com/idemgen/idemgen/bench/readings"
	kafka "github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/idem"
)

// consumers are the generated constructors, by the program's argument.
var consumers = map[string]func(*pgxpool.Pool, ...idem.Option) (*idem.Consumer, error){
	"accounts": accounts.NewConsumer,
	"notices":  notices.New,
	"payments": payments.New,
	"readings": readings.NewConsumer,
	"devices": func(db *pgxpool.Pool, opts ...idem.Option) (*idem.Consumer, error) {
		return devices.NewConsumer(db, devices.Service{}, opts...)
	},
	"devices-queued": func(db *pgxpool.Pool, opts ...idem.Option) (*idem.Consumer, error) {
		return devices.NewConsumer(db, devices.Queueing{}, opts...)
	},
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 || consumers[args[0]] == nil {
		return fmt.Errorf("want readings, payments, devices, devices-queued, accounts or notices, not %q", args)
	}
	records, err := strconv.ParseInt(os.Getenv("RECORDS"), 10, 64)
	if err != nil {
		return fmt.Errorf("RECORDS: %w", err)
	}
	db, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer db.Close()
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	consumer, err := consumers[args[0]](db, idem.WithLogger(quiet))
	if err != nil {
		return err
	}
	stopProfile, err := startProfile(os.Getenv("CPUPROFILE"))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		done <- consumer.Run(ctx, &kafka.Source{Brokers: os.Getenv("KAFKA_BROKERS"), Logger: quiet})
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, os.Stdin) // an error ends it, too
	}()
	took, err := measure(consumer, records, ended, done)
	if err != nil {
		return err
	}
	if err := stopProfile(); err != nil {
		return err
	}
	if records == 0 {
		stop()
		err = <-done
		took.Applied = consumer.Stats().Applied // what was on its way, too
		return errors.Join(err, json.NewEncoder(os.Stdout).Encode(took))
	}
	if err := json.NewEncoder(os.Stdout).Encode(took); err != nil {
		return err
	}
	<-ended
	stop()
	return <-done
}
