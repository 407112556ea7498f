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

// memberRecords is how many times -records a run of P16 has: the first process is alone with them
// until the others have joined.
const memberRecords = 4

// sharing has processes of one group consume the same log, with keys from a header.
func sharing(ctx context.Context, rounds, records int) (s scaled, err error) {
	file, db, end, err := stage(ctx, header)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	l := spread(records * memberRecords)
	broker, err := idemtest.StartBroker(map[string]int32{l.topic: memberPartitions})
	if err != nil {
		return nil, err
	}
	defer broker.Close()
	if err := l.produce(ctx, broker); err != nil {
		return nil, err
	}
	return grow(ctx, db, "processes", members, rounds, func(ctx context.Context, n int) (measurement, error) {
		return share(ctx, db, broker, l, file, n)
	})
}

// stage builds a program and starts a database, until end is called.
func stage(ctx context.Context, b binary) (file string, db *database, end func() error, err error) {
	dir, err := os.MkdirTemp("", "idemgen-bench-")
	if err != nil {
		return "", nil, nil, err
	}
	if file, err = b.build(ctx, dir, b.name); err == nil {
		db, err = startDatabase(ctx)
	}
	if err != nil {
		return "", nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return file, db, func() error { return errors.Join(db.close(), os.RemoveAll(dir)) }, nil
}

// spread is the log of readings over the partitions of P16.
func spread(records int) log {
	l := logs(records, 0, 0)[0]
	l.record = func(i int, at time.Time) (int, string, []byte) {
		_, key, value := reading(i, at)
		return i * 7919 % devices % memberPartitions, key, value
	}
	return l
}

// share is one run. What counts is the time from when the partitions are shared out until 95 of
// 100 records are applied: then partitions begin to be done.
func share(ctx context.Context, db *database, broker *idemtest.Broker, l log, file string, n int) (m measurement, err error) {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	if err := forgetGroups(ctx, broker.Addr()); err != nil {
		return m, err
	}
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
		before, err := db.shared(ctx, conn, n)
		if err != nil {
			return err
		}
		if before > int64(l.records)/2 {
			return fmt.Errorf("%d of %d records were applied before the partitions were shared out: choose more -records", before, l.records)
		}
		return m.over(ctx, db, func() error {
			for {
				now, err := db.tail(ctx, conn)
				if m.Records = now - before; err != nil || now >= int64(l.records)*95/100 {
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

// tail is how many records all partitions of the run have applied.
func (d *database) tail(ctx context.Context, conn *pgx.Conn) (records int64, err error) {
	err = conn.QueryRow(ctx, `SELECT coalesce(sum(t.next), 0)::bigint FROM idem_stream s
CROSS JOIN LATERAL (SELECT next FROM idem_ledger WHERE stream = s.stream ORDER BY seq DESC LIMIT 1) t`).Scan(&records)
	return records, err
}

// shared waits until each of n processes was the last to take over as many partitions, and returns
// how many records were applied by then.
func (d *database) shared(ctx context.Context, conn *pgx.Conn, n int) (records int64, err error) {
	if err := d.sharedBy(ctx, conn, n, memberPartitions/n); err != nil {
		return 0, err
	}
	return d.tail(ctx, conn)
}

// sharedBy waits until each of n processes was the last to take over so many partitions.
func (d *database) sharedBy(ctx context.Context, conn *pgx.Conn, n, each int) error {
	for {
		var fair bool
		err := conn.QueryRow(ctx, `WITH own AS (
	SELECT f.info, count(*) AS n FROM idem_stream s
	CROSS JOIN LATERAL (SELECT info FROM idem_ledger WHERE stream = s.stream AND kind = 'f' ORDER BY seq DESC LIMIT 1) f GROUP BY f.info
) SELECT count(*) = $1 AND bool_and(n = $2) FROM own`, n, each).Scan(&fair)
		if err != nil || fair {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d processes did not share the partitions out: %w", n, ctx.Err())
		case <-time.After(20 * time.Millisecond):
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
