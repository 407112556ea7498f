package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// members are the numbers of processes of P16. They share 12 partitions of one topic.
var members = []int{1, 2, 3, 4}

const memberPartitions = 12

// settled is for how long a group must not have moved a partition before records are produced.
const settled = 3 * time.Second

// sharing has processes of one group consume the same log, with keys from a header.
func sharing(ctx context.Context, rounds, records int) (s scaled, err error) {
	dir, err := os.MkdirTemp("", "idemgen-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := header.build(ctx, dir, header.name)
	if err != nil {
		return nil, err
	}
	db, err := startDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	return grow(ctx, db, "processes", members, rounds, func(ctx context.Context, n int) (measurement, error) {
		return share(ctx, db, file, n, records)
	})
}

// share is one run. The records are produced once the group has shared the partitions out; what
// counts is the time from the last one's arrival until 95 of 100 are applied: then partitions
// begin to be done.
func share(ctx context.Context, db *database, file string, n, records int) (m measurement, err error) {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	l := logs(records, 0, 0)[0]
	l.record = func(i int, at time.Time) (int, string, []byte) {
		_, key, value := reading(i, at)
		return i * 7919 % devices % memberPartitions, key, value
	}
	broker, err := idemtest.StartBroker(map[string]int32{l.topic: memberPartitions})
	if err != nil {
		return m, err
	}
	defer broker.Close()
	url, err := db.fresh(ctx, l)
	if err != nil {
		return m, err
	}
	env := []string{"KAFKA_BROKERS=" + broker.Addr(), "DATABASE_URL=" + url + "&pool_max_conns=" + strconv.Itoa(memberPartitions/n), "RECORDS=0"}
	var all []*program
	defer func() { err = errors.Join(err, end(ctx, all)) }()
	for range n {
		p, err := launch(ctx, file, []string{"readings"}, env)
		if err != nil {
			return m, err
		}
		all = append(all, p)
	}
	err = db.with(ctx, func(conn *pgx.Conn) error {
		if err := db.shared(ctx, conn, n); err != nil {
			return err
		}
		if err := l.produce(ctx, broker); err != nil {
			return err
		}
		before, _, _, err := db.tail(ctx, conn)
		if err != nil {
			return err
		}
		return m.over(ctx, db, func() error {
			for {
				now, _, _, err := db.tail(ctx, conn)
				if m.Records = now - before; err != nil || now >= int64(records)*95/100 {
					return err
				}
				time.Sleep(20 * time.Millisecond)
			}
		}, func() (sum time.Duration, err error) {
			for _, p := range all {
				used, err := readProcess(strconv.Itoa(p.cmd.Process.Pid))
				if err != nil {
					return 0, err
				}
				sum += used.own
			}
			return sum, nil
		})
	})
	return m, err
}

// shared waits until n processes have partitions, and none has moved for a while.
func (d *database) shared(ctx context.Context, conn *pgx.Conn, n int) error {
	var since time.Time
	last := int64(-1)
	for {
		_, owners, streams, err := d.tail(ctx, conn)
		if err != nil {
			return err
		}
		var rows int64
		if err := conn.QueryRow(ctx, `SELECT count(*) FROM idem_ledger`).Scan(&rows); err != nil {
			return err
		}
		switch {
		case owners != n || streams != memberPartitions || rows != last:
			since, last = time.Now(), rows
		case time.Since(since) > settled:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d processes have partitions: %w", owners, n, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// end ends processes, once they have applied what they have begun.
func end(ctx context.Context, all []*program) (err error) {
	for _, p := range all {
		var m measurement
		err = errors.Join(err, p.in.Close(), p.out.Decode(&m))
		err = errors.Join(err, p.end(ctx, nil))
	}
	return err
}
