package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

const (
	total    = 40_000
	consumer = "order-projector"
)

// playHalves tells in a text what happens to a log of a fixed length.
func playHalves(ctx context.Context) (err error) {
	step("%s", servedBy())
	step("building idemgen and the orders example")
	built, err := build(ctx, service)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(built.dir)) }()

	step("starting Postgres and the broker")
	s, err := startStage(ctx, built)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	log := newLog()
	start := time.Now()
	address, err := pages(ctx, s.postgres.URL())
	if err != nil {
		return err
	}
	step("web pages of it, until it ends: %s", address)
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

// theatre is all that runs.
type theatre struct {
	servers
	db       *pgxpool.Pool
	running  []*stage.Process
	terminal bool // progress may be drawn over itself
	shown    int  // quarters that were shown elsewhere
}

func startStage(ctx context.Context, p programs) (_ *theatre, err error) {
	s := &theatre{servers: servers{programs: p}}
	if out, err := os.Stdout.Stat(); err == nil {
		s.terminal = out.Mode()&os.ModeCharDevice != 0
	}
	if err = s.open(ctx, idemtest.PostgresOptions{}, idemtest.BrokerOptions{}); err == nil {
		s.db, err = pgxpool.New(ctx, s.postgres.URL())
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *theatre) close() error {
	var errs []error
	for _, p := range s.running {
		errs = append(errs, p.Kill())
	}
	if s.db != nil {
		s.db.Close()
	}
	return errors.Join(append(errs, s.servers.close())...)
}

// firstHalf runs without incident, so that there are committed offsets to set back.
func (s *theatre) firstHalf(ctx context.Context, entries []shop.Entry) error {
	if err := s.start(ctx, 2); err != nil {
		return err
	}
	if err := s.produce(ctx, entries, 0, nil); err != nil {
		return err
	}
	if err := s.wait(ctx, int64(len(entries))); err != nil {
		return err
	}
	for _, p := range s.running {
		if err := p.Stop(); err != nil {
			return err
		}
	}
	s.running = nil
	before := s.broker.Committed(consumer, topic)
	if err := s.broker.Commit(ctx, consumer, topic, make([]int64, partitions)); err != nil {
		return err
	}
	fmt.Printf("  both processes stopped cleanly; committed offsets set back from %v to 0\n", before)
	return nil
}

// secondHalf kills a process twice while records keep coming.
func (s *theatre) secondHalf(ctx context.Context, entries []shop.Entry) error {
	if err := s.start(ctx, 2); err != nil {
		return err
	}
	err := s.produce(ctx, entries, 2500, map[int]func() error{
		len(entries) / 4:     func() error { return s.crash(ctx, 0) },
		len(entries) * 5 / 8: func() error { return s.crash(ctx, 0) },
	})
	if err != nil {
		return err
	}
	if err := s.wait(ctx, total); err != nil {
		return err
	}
	for _, p := range s.running {
		if err := p.Stop(); err != nil {
			return err
		}
	}
	s.running = nil
	return nil
}

// crash kills a process once it works, and starts another in its place.
func (s *theatre) crash(ctx context.Context, i int) error {
	if err := s.running[i].Works(ctx); err != nil {
		return err
	}
	back := ""
	if s.terminal {
		back = "\r"
	}
	fmt.Printf("%s  kill -9 of process %d, in the middle of its work%s\n", back, s.running[i].PID(), strings.Repeat(" ", 30))
	if err := s.running[i].Kill(); err != nil {
		return err
	}
	p, err := s.process(ctx)
	if err != nil {
		return err
	}
	s.running[i] = p
	return nil
}

// process starts a process of the service.
func (s *theatre) process(ctx context.Context) (*stage.Process, error) {
	return stage.Start(ctx, []string{"KAFKA_BROKERS=" + s.broker.Addr(), "DATABASE_URL=" + s.postgres.URL()}, s.service)
}

func (s *theatre) start(ctx context.Context, n int) error {
	for range n {
		p, err := s.process(ctx)
		if err != nil {
			return err
		}
		s.running = append(s.running, p)
	}
	return nil
}

// produce sends records in chunks, at most perSecond (0 = as fast as possible), and runs
// what is due at a record.
func (s *theatre) produce(ctx context.Context, entries []shop.Entry, perSecond int, due map[int]func() error) error {
	const chunk = 250
	for from := 0; from < len(entries); from += chunk {
		part := entries[from:min(from+chunk, len(entries))]
		messages := make([]*wire.Message, len(part))
		for i := range part {
			messages[i] = part[i].Message
		}
		if err := s.broker.Produce(ctx, messages...); err != nil {
			return err
		}
		for at, do := range due {
			if at >= from && at < from+chunk {
				if err := do(); err != nil {
					return err
				}
			}
		}
		if perSecond > 0 {
			if err := stage.Pause(ctx, time.Second*chunk/time.Duration(perSecond)); err != nil {
				return err
			}
		}
		if err := s.progress(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wait shows progress until the ledger has passed n records.
func (s *theatre) wait(ctx context.Context, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		passed, err := s.passed(ctx)
		if err != nil {
			return err
		}
		if err := s.progress(ctx); err != nil {
			return err
		}
		if passed >= n {
			if s.terminal {
				fmt.Println()
			}
			return nil
		}
		for _, p := range s.running {
			if err := p.Dead(); err != nil {
				return err
			}
		}
		if err := stage.Pause(ctx, 100*time.Millisecond); err != nil {
			for _, p := range s.running {
				fmt.Printf("\nlast lines of process %d:\n%s\n", p.PID(), p.Log)
			}
			return fmt.Errorf("the ledger stands at %d of %d records: %w", passed, n, err)
		}
	}
}

// passed is how many offsets the ledger has passed, in all partitions.
func (s *theatre) passed(ctx context.Context) (n int64, err error) {
	err = s.db.QueryRow(ctx, `SELECT coalesce(sum(next), 0) FROM (SELECT max(next) AS next FROM idem_ledger GROUP BY stream) AS tails`).Scan(&n)
	return n, err
}

func (s *theatre) progress(ctx context.Context) error {
	n, err := s.passed(ctx)
	if err != nil {
		return err
	}
	const width = 40
	done := int(n * width / total)
	if !s.terminal {
		if done/10 > s.shown {
			s.shown = done / 10
			fmt.Printf("  %d of %d\n", n, total)
		}
		return nil
	}
	fmt.Printf("\r  [%s%s] %6d of %d", strings.Repeat("#", done), strings.Repeat(".", width-done), n, total)
	return nil
}
