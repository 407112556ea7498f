package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/bench/keys"
	"github.com/idemgen/idemgen/runtime/idem"
)

// scaled is what a number of processes, or of consumers, took for the same work, by that number.
type scaled map[int][]measurement

// beside compares n with one.
func (s scaled) beside(n int) figure { return beside(s[n], s[1]) }

// grow measures each number in each round. Another one is the first of each round.
func grow(ctx context.Context, db *database, what string, numbers []int, rounds int, once func(ctx context.Context, n int) (measurement, error)) (scaled, error) {
	settings, err := db.settings(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Printf("# %s; %d cores; %s\n", settings, runtime.NumCPU(), what)
	all := scaled{}
	for round := range rounds {
		for i := range numbers {
			n := numbers[(round+i)%len(numbers)]
			m, err := once(ctx, n)
			if err != nil {
				return nil, fmt.Errorf("%d %s: %w", n, what, err)
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %2d %s: %8.0f records/s, %5.2f us of CPU per record, %5.2f in the database\n", round+1, rounds, n, what,
				m.speed(), m.CPU.Seconds()*1e6/float64(m.Records), m.DatabaseCPU.Seconds()*1e6/float64(m.Records))
			all[n] = append(all[n], m)
		}
	}
	return all, nil
}

// crowds are the numbers of consumers of P17. They have 16 partitions, together.
var crowds = []int{1, 4, 16}

const crowdPartitions = 16

// crowding has consumers with keys that all of their partitions share apply as many records,
// together, in one database. They are in this process, and make their records themselves.
func crowding(ctx context.Context, rounds, records int) (s scaled, err error) {
	db, err := startDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	return grow(ctx, db, "consumers", crowds, rounds, func(ctx context.Context, n int) (measurement, error) {
		return crowd(ctx, db, n, records)
	})
}

func crowd(ctx context.Context, db *database, n, records int) (m measurement, err error) {
	url, err := db.fresh(ctx, log{migrations: "bench/keys/migrations", seed: placesSQL})
	if err != nil {
		return m, err
	}
	pool, err := pgxpool.New(ctx, url+"&pool_max_conns="+fmt.Sprint(crowdPartitions/n))
	if err != nil {
		return m, err
	}
	defer pool.Close()
	var all []*fed
	defer func() {
		for _, r := range all {
			err = errors.Join(err, r.stop())
		}
	}()
	for i := range n {
		consumer, err := keys.Named(fmt.Sprintf("crowd-%d", i), pool, idem.WithLogger(slog.New(&journal{})))
		if err != nil {
			return m, err
		}
		r, err := newFeed(anywhereTopic, fmt.Sprint(i), crowdPartitions/n, 500).start(ctx, consumer)
		if err != nil {
			return m, err
		}
		all = append(all, r)
	}
	return m, m.over(ctx, db, func() error {
		var done sync.WaitGroup
		errs := make([]error, n)
		for i, r := range all {
			done.Go(func() { errs[i] = r.apply(int64(records / n)) })
		}
		done.Wait()
		m.Records = int64(records)
		return errors.Join(errs...)
	}, func() (time.Duration, error) {
		var used syscall.Rusage
		err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
		return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
	})
}

// over measures time and CPU time of what is done; cpu is that of the processes until now.
func (m *measurement) over(ctx context.Context, db *database, do func() error, cpu func() (time.Duration, error)) error {
	own, err := cpu()
	if err != nil {
		return err
	}
	database, err := db.cpu(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := do(); err != nil {
		return err
	}
	m.Seconds, m.Consumed = time.Since(began).Seconds(), m.Records
	if m.CPU, err = cpu(); err != nil {
		return err
	}
	m.DatabaseCPU, err = db.cpu(ctx)
	m.CPU, m.DatabaseCPU = m.CPU-own, m.DatabaseCPU-database
	return err
}
