package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// deadSession is the session timeout of the members of P9, which send a heartbeat every 100 ms. A
// figure is up to one interval too small, because the session of the dead member began with its
// last heartbeat, and up to one too large, because the others learn of the rebalance with theirs.
const deadSession = 2 * time.Second

// shortSession is a worker with keys from a header and the settings of P9.
var shortSession = worker("short-session", func(ctx context.Context, dir string) (map[string]string, error) {
	replaced, err := withKey(headerKey)(ctx, dir)
	if err != nil {
		return nil, err
	}
	const client = `"github.com/idemgen/idemgen/runtime/confluent"`
	more, err := changed(dir, "bench/worker/main.go",
		client, client+"\n\tclient \"github.com/confluentinc/confluent-kafka-go/v2/kafka\"",
		"Logger: quiet}", fmt.Sprintf(`Logger: quiet, Config: client.ConfigMap{"session.timeout.ms": %d, "heartbeat.interval.ms": 100}}`, deadSession.Milliseconds()))
	for own, file := range more {
		replaced[own] = file
	}
	return replaced, err
})

// failover has two processes share four partitions and a steady log, and kills one with SIGKILL.
// It returns, for each round, the milliseconds from the end of its session until the other process
// has committed a batch on each of its partitions.
func failover(ctx context.Context, rounds int) (late []float64, err error) {
	file, db, end, err := stage(ctx, shortSession)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	l := logs(0, 0, 0)[0]
	for i := range rounds {
		ms, err := killed(ctx, db, l, file)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "round %d of %d: the next owner's first commits %.0f ms after the session\n", i+1, rounds, ms)
		late = append(late, ms)
	}
	return late, nil
}

// killed is one round.
func killed(ctx context.Context, db *database, l log, file string) (ms float64, err error) {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	broker, err := idemtest.StartBroker(map[string]int32{l.topic: partitions})
	if err != nil {
		return 0, err
	}
	defer broker.Close()
	url, err := db.fresh(ctx, l)
	if err != nil {
		return 0, err
	}
	flowing, drain := context.WithCancel(ctx)
	flow := make(chan error, 1)
	go func() { flow <- trickle(flowing, broker, l) }()
	defer func() {
		drain()
		err = errors.Join(err, <-flow)
	}()
	env := []string{"KAFKA_BROKERS=" + broker.Addr(), "DATABASE_URL=" + url, "RECORDS=0"}
	var all []*program
	defer func() { err = errors.Join(err, end(ctx, all)) }()
	for range 2 {
		p, err := launch(ctx, file, []string{"readings"}, env)
		if err != nil {
			return 0, err
		}
		all = append(all, p)
	}
	err = db.with(ctx, func(conn *pgx.Conn) error {
		if err := db.sharedBy(ctx, conn, 2, partitions/2); err != nil {
			return err
		}
		dead := all[0]
		all = all[1:]
		var at time.Time
		if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at); err != nil {
			return err
		}
		if err := dead.cmd.Process.Kill(); err != nil {
			return err
		}
		_ = dead.cmd.Wait() // it was killed
		for {
			var moved int
			var last time.Time
			err := conn.QueryRow(ctx, `SELECT count(*), coalesce(max(b.written_at), now()) FROM idem_stream s
CROSS JOIN LATERAL (SELECT seq FROM idem_ledger WHERE stream = s.stream AND kind = 'f' AND written_at > $1 ORDER BY seq LIMIT 1) f
CROSS JOIN LATERAL (SELECT written_at FROM idem_ledger WHERE stream = s.stream AND kind = 'b' AND seq > f.seq ORDER BY seq LIMIT 1) b`, at).Scan(&moved, &last)
			if err != nil {
				return err
			}
			if moved == partitions/2 {
				ms = float64((last.Sub(at) - deadSession).Microseconds()) / 1000
				return nil
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return ms, err
}

// trickle appends a few records to each partition every few milliseconds.
func trickle(ctx context.Context, broker *idemtest.Broker, l log) error {
	for i := 0; ctx.Err() == nil; i += 40 {
		batch := make([]*wire.Message, 40)
		for k := range batch {
			batch[k] = l.message(i + k)
		}
		if err := broker.Produce(ctx, batch...); err != nil && ctx.Err() == nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// middle is the figure of P9: the median, with the least and the most of a round.
func middle(values []float64) figure {
	return figure{value: median(values), least: slices.Min(values), most: slices.Max(values)}
}
