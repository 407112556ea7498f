package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// show is the demo as a screen: records come and come, and keys make happen what must do no harm.
type show struct {
	servers
	producer *producer
	crew     *crew
	board    *board
	acting   sync.WaitGroup // what keys asked for
	outage   sync.Mutex     // held while Postgres is away
	poisoned int

	mu     sync.Mutex
	failed error
}

// session is how long the group waits for a member that it does not hear of.
const session = 1500 * time.Millisecond

func openShow(ctx context.Context, built programs) (*show, error) {
	s := &show{servers: servers{programs: built}, board: &board{began: time.Now()}, crew: &crew{}}
	err := s.open(ctx, idemtest.PostgresOptions{Durable: true, TCP: true}, idemtest.BrokerOptions{Session: session})
	if err == nil {
		err = s.ask(ctx, func(db *pgxpool.Pool) error {
			_, err := db.Exec(ctx, audit.JournalSQL)
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.producer = newProducer(s.broker)
	s.crew.launch = func(ctx context.Context, database string) (*stage.Process, error) {
		return stage.Start(ctx, []string{
			script.Brokers + "=" + s.broker.Addr(), script.Database + "=" + database, script.Protocol + "=" + script.Consumer,
		}, s.service)
	}
	return s, nil
}

// ask does something with the database.
func (s *show) ask(ctx context.Context, do func(*pgxpool.Pool) error) error {
	db, err := pgxpool.New(ctx, s.postgres.URL())
	if err != nil {
		return err
	}
	defer db.Close()
	return do(db)
}

func (s *show) close() error { return errors.Join(s.crew.close(), s.servers.close()) }

// fail keeps an error that must not happen. The show goes on, and ends with it.
func (s *show) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.board.say('!', "%v", err)
		s.failed = err
	}
}

// run plays until a key asks for the end, and then until all records are applied. draw is called
// with what is to be seen, one call at a time.
func (s *show) run(ctx context.Context, keys <-chan rune, draw func(state)) error {
	ctx, end := context.WithCancel(ctx)
	p, err := newProbe(s)
	if err == nil {
		err = s.crew.start(ctx, 2, s.postgres.URL())
	}
	if err != nil {
		end()
		return err
	}
	producing, enough := context.WithCancel(ctx)
	var play, watch sync.WaitGroup
	play.Go(func() {
		if err := s.producer.run(producing); err != nil {
			s.fail(err)
		}
	})
	watch.Go(func() { p.run(ctx) })
	watch.Go(func() { s.draw(ctx, draw) })
	defer watch.Wait()
	defer end()
	defer enough()
	for asked := false; !asked; {
		select {
		case <-ctx.Done():
			s.acting.Wait()
			return ctx.Err()
		case key := <-keys:
			asked = key == quit
			s.press(ctx, key)
		}
	}
	enough()
	s.board.say(quit, "no more records; when all are applied, the whole log is audited")
	play.Wait()
	s.acting.Wait()
	if err := s.settle(ctx); err != nil {
		return err
	}
	err = s.crew.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.failed, err)
}

// draw has what is to be seen drawn, until ctx ends.
func (s *show) draw(ctx context.Context, draw func(state)) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		draw(s.board.read())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// settle waits until the ledger has passed the whole log, and the audit saw that.
func (s *show) settle(ctx context.Context) error {
	since := s.board.now()
	err := stage.Until(ctx, 3*time.Minute, func() (bool, error) {
		now := s.board.read()
		if now.lag() > 0 || now.outage != "" {
			since = now.clock
		}
		return now.at > since+time.Second, nil
	})
	if errors.Is(err, stage.ErrTimeout) {
		return fmt.Errorf("%d records were not applied in 3 minutes", s.board.read().lag())
	}
	return err
}

// judge audits the whole of the log and of the database.
func (s *show) judge(ctx context.Context) error {
	log, _, _ := s.producer.acknowledged()
	return s.ask(ctx, func(db *pgxpool.Pool) error {
		r, err := newReport(ctx, db, log)
		if err != nil {
			return err
		}
		return r.print(os.Stdout)
	})
}
