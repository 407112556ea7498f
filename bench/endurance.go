package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// mostGoroutines is how many the worker may have: its own ones included, what docs/production.md
// says of a consumer and its partitions.
const mostGoroutines = 12 + 4*partitions

// ahead is how many records wait for the consumer. Its group commits every five seconds, and it
// is not to wait for records meanwhile.
const ahead = 1_000_000

// looks is how often a long run is looked at.
const looks = 20

// endured is what a long run at full speed took.
type endured struct {
	resident   []float64 // MiB, as the run went on
	peak       float64
	goroutines int
	records    int64
}

func enduredMemory(e *endured) figure {
	return figure{value: e.peak, least: slices.Min(e.resident), most: e.peak}
}

func enduredGoroutines(e *endured) figure { return largest([]float64{float64(e.goroutines)}) }

// endure has the consumer with header keys run at full speed for some time. All records that the
// consumer says it applied must be there afterwards, each once.
func endure(ctx context.Context, span time.Duration, ahead int) (e *endured, err error) {
	one := contenders[slices.IndexFunc(contenders, func(c contender) bool { return c.name == "header" })]
	c, err := newContest(ctx, size{rounds: 1}, []contender{one})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	l := c.logs[one.log]
	url, err := c.db.fresh(ctx, l)
	if err != nil {
		return nil, err
	}
	flow, err := startFlow(ctx, flow{log: l, group: readingsGroup, broker: c.broker, ahead: ahead})
	if err != nil {
		return nil, err
	}
	env := []string{"KAFKA_BROKERS=" + c.broker.Addr(), "DATABASE_URL=" + url, "TOPIC=" + l.topic, "RECORDS=0"}
	p, err := launch(ctx, c.programs[one.name], one.args, env)
	if err != nil {
		return nil, errors.Join(err, flow.end())
	}
	e = &endured{}
	err = errors.Join(e.watch(ctx, p, span), p.in.Close()) // it finishes what it has begun, and says what it has done
	var m measurement
	err = errors.Join(err, p.out.Decode(&m), flow.end())
	if err = p.end(ctx, err); err != nil {
		return nil, err
	}
	e.goroutines, e.records = m.Goroutines, m.Applied
	fmt.Fprintf(os.Stderr, "%v: %-14s %8.0f records/s, %d records, peak %3.0f MiB, %d goroutines\n",
		span, one.name, m.speed(), m.Applied, e.peak, e.goroutines)
	return e, c.db.counted(ctx, m.Applied)
}

// watch looks at a program's memory until the time is over.
func (e *endured) watch(ctx context.Context, p *program, span time.Duration) error {
	for i := range looks {
		select {
		case <-time.After(span / looks):
		case <-ctx.Done():
			return ctx.Err()
		}
		now, err := p.memory("VmRSS")
		if err != nil {
			return err
		}
		high, err := p.memory("VmHWM")
		if err != nil {
			return err
		}
		e.peak = max(e.peak, high, now) // Linux counts roughly: now may be above the mark
		e.resident = append(e.resident, now)
		fmt.Fprintf(os.Stderr, "after %v: %.1f MiB, peak %.1f MiB\n", time.Duration(i+1)*span/looks, now, e.peak)
	}
	return nil
}

// counted is an error unless the table of readings has so many rows.
func (d *database) counted(ctx context.Context, want int64) error {
	return d.with(ctx, func(conn *pgx.Conn) error {
		var got int64
		if err := conn.QueryRow(ctx, `SELECT count(*) FROM readings`).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%d records took effect, the consumer applied %d", got, want)
		}
		return nil
	})
}
