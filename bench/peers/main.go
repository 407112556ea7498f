// Command peers consumes a topic into Postgres the way people write it by hand: franz-go, pgx,
// encoding/json, a goroutine per partition and a transaction per batch. It is what idemgen's
// speed is compared with, so it must be as good as an expert makes it.
//
//	peers unchecked|checked|loop|loop-checked|loop-queued|loop-checked-queued|adds|adds-checked|adds-summed|
//	      payments-unchecked|payments-checked|payments-loop-queued|payments-loop-checked-queued|
//	      notices|notices-redis
//
// The environment says where: KAFKA_BROKERS, DATABASE_URL, REDIS_ADDR, TOPIC, RECORDS. When as
// many records are in the database it prints one line of JSON, and ends when its standard input
// does.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
)

// writers are the ways to write a batch, by the program's argument.
var writers = map[string]func(*pgxpool.Pool) writer{
	"unchecked":           newUnchecked,
	"checked":             newChecked,
	"loop":                newLoop,
	"loop-checked":        newLoopChecked,
	"loop-queued":         newLoopQueued,
	"loop-checked-queued": newLoopCheckedQueued,
	"adds":                newAdds,
	"adds-checked":        newAddsChecked,
	"adds-summed":         newAddsSummed,

	"payments-unchecked":           newPaymentsUnchecked,
	"payments-checked":             newPaymentsChecked,
	"payments-loop-queued":         newPaymentsLoopQueued,
	"payments-loop-checked-queued": newPaymentsLoopCheckedQueued,

	"notices":       newNotices,
	"notices-redis": newNoticesRedis,
}

// connections are those of the pool, if the default is too few.
var connections = map[string]int32{"notices": 32}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 || writers[args[0]] == nil {
		return fmt.Errorf("want one of %s, not %q", slices.Sorted(maps.Keys(writers)), args)
	}
	records, err := strconv.ParseInt(os.Getenv("RECORDS"), 10, 64)
	if err != nil {
		return fmt.Errorf("RECORDS: %w", err)
	}
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	config.MaxConns = max(config.MaxConns, connections[args[0]])
	db, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer db.Close()
	stopProfile, err := startProfile(os.Getenv("CPUPROFILE"))
	if err != nil {
		return err
	}
	c, err := newConsumer(os.Getenv("KAFKA_BROKERS"), os.Getenv("TOPIC"), func() writer { return writers[args[0]](db) })
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan struct{})
	go func() {
		stop(c.run(ctx))
		close(ended)
	}()
	took, err := c.measure(ctx, records)
	if err != nil {
		return err
	}
	if err := stopProfile(); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(took); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	stop(nil)
	<-ended
	return err
}
