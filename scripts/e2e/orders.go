package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

const (
	partitions = 4
	group      = "order-projector"
)

// serviceChecks are about generated services.
var serviceChecks = []check{
	{name: "a service: duplicates, kills, rebalances", do: ordersWith("")},
	{name: "the same in a group of the new protocol", do: ordersWith(script.Consumer)},
	{name: "three brokers, and one is killed", long: true, do: threeBrokers},
}

// shopStage is the orders example on the broker, with a database of its own.
type shopStage struct {
	k        *kit
	db       *database
	conn     *pgx.Conn // of the audit
	protocol string
	maker    *shop.Maker
	log      []*wire.Message
	ends     map[int32]int64
	started  []*stage.Process
	running  []*stage.Process
}

func (k *kit) openShop(ctx context.Context, protocol string) (_ *shopStage, err error) {
	s := &shopStage{k: k, protocol: protocol, maker: shop.New(7, partitions), ends: map[int32]int64{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := k.fresh(ctx, shop.Topic, group, partitions); err != nil {
		return s, err
	}
	if s.db, err = openDatabase(ctx, nil); err != nil {
		return s, err
	}
	if err := s.db.Migrate(ctx, orders+"/migrations"); err != nil {
		return s, err
	}
	if _, err := s.db.pool.Exec(ctx, audit.JournalSQL); err != nil {
		return s, err
	}
	s.conn, err = pgx.Connect(ctx, s.db.URL())
	return s, err
}

func (s *shopStage) close() error {
	var errs []error
	for _, p := range s.started {
		errs = append(errs, p.Kill())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close(context.Background()))
	}
	if s.db != nil {
		errs = append(errs, s.db.close())
	}
	return errors.Join(errs...)
}

// start starts a process of the service.
func (s *shopStage) start(ctx context.Context) error {
	env := []string{script.Brokers + "=" + s.k.broker.Addr(), script.Database + "=" + s.db.URL()}
	program := s.k.program("order-projector")
	if s.protocol != "" {
		env = append(env, script.Protocol+"="+s.protocol, script.MaxPoll+"=12s", fmt.Sprintf("%s=e2e-%d", script.Client, len(s.started)))
		program = s.k.program("service")
	}
	p, err := stage.Start(ctx, env, program)
	if err == nil {
		s.started, s.running = append(s.started, p), append(s.running, p)
	}
	return err
}

// works starts n processes and waits until each of them owns a partition.
func (s *shopStage) works(ctx context.Context, n int) error {
	for range n {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	for _, p := range s.running {
		if err := p.Works(ctx); err != nil {
			return err
		}
	}
	return nil
}

// first takes the oldest process out of those that must live.
func (s *shopStage) first() *stage.Process {
	p := s.running[0]
	s.running = s.running[1:]
	return p
}

// stopAll ends the processes as a deployment does.
func (s *shopStage) stopAll() error {
	var errs []error
	for _, p := range s.running {
		errs = append(errs, p.Stop())
	}
	s.running = nil
	return errors.Join(errs...)
}

func (s *shopStage) dead() error {
	for _, p := range s.running {
		if err := p.Dead(); err != nil {
			return err
		}
	}
	return nil
}

// events makes n events and their copies.
func (s *shopStage) events(n int) (made []*wire.Message) {
	for len(made) < n {
		for _, e := range s.maker.Next() {
			made = append(made, e.Message)
		}
	}
	return made
}

// send produces messages that the service must see.
func (s *shopStage) send(ctx context.Context, messages ...*wire.Message) error {
	if err := s.k.produce(ctx, messages...); err != nil {
		return err
	}
	s.sent(messages...)
	return nil
}

func (s *shopStage) sent(messages ...*wire.Message) {
	s.log = append(s.log, messages...)
	for _, m := range messages {
		s.ends[m.Partition] = max(s.ends[m.Partition], m.Offset+1)
	}
}

// caughtUp waits until the ledger has passed the log.
func (s *shopStage) caughtUp(ctx context.Context) error {
	var unread []audit.Finding
	err := stage.Until(ctx, patience, func() (bool, error) {
		passed, err := audit.Passed(ctx, s.conn)
		unread = audit.Unread(passed, s.ends)
		return len(unread) == 0, errors.Join(err, s.dead())
	})
	if errors.Is(err, stage.ErrTimeout) {
		return fmt.Errorf("not caught up: %v; last lines:\n%s", unread, s.started[len(s.started)-1].Log)
	}
	return err
}

// right compares the database with the log.
func (s *shopStage) right(ctx context.Context) error {
	found, err := audit.Audit(ctx, s.k.service, audit.AddPayment, s.conn, s.log)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%d findings, the first: %v", len(found), found[0])
	}
	return err
}

// obey runs commands that a halted partition printed.
func (s *shopStage) obey(ctx context.Context, commands []string) error {
	for _, c := range commands {
		cmd := exec.CommandContext(ctx, s.k.program("idemgen"), strings.Fields(c)[1:]...)
		cmd.Env = append(os.Environ(), script.Database+"="+s.db.URL())
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", c, err, out)
		}
	}
	return nil
}

// ordersWith runs the orders example while its processes are killed, stopped and added.
func ordersWith(protocol string) func(context.Context, *kit) (string, error) {
	return func(ctx context.Context, k *kit) (_ string, err error) {
		s, err := k.openShop(ctx, protocol)
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		if err := s.works(ctx, 2); err != nil {
			return "", err
		}
		if err := s.trouble(ctx); err != nil {
			return "", err
		}
		if err := s.caughtUp(ctx); err != nil {
			return "", err
		}
		if err := s.stopAll(); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d records, 2 kill -9, 4 rebalances", len(s.log)), s.right(ctx)
	}
}

// trouble sends records of all kinds, and moves partitions about meanwhile.
func (s *shopStage) trouble(ctx context.Context) error {
	const rounds, each = 40, 150
	for i := range rounds {
		batch := s.events(each)
		if i >= rounds/2 { // again what was sent long ago, and something broken
			for _, old := range s.log[(i-rounds/2)*each/2:][:20] {
				if len(old.Headers) > 0 {
					batch = append(batch, shop.Again(old))
				}
			}
			batch = append(batch, s.maker.Broken(i).Message)
		}
		if err := s.send(ctx, batch...); err != nil {
			return err
		}
		if err := s.shake(ctx, i); err != nil {
			return err
		}
		if err := stage.Pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return s.dead()
}

// shake kills, stops or starts a process in some rounds.
func (s *shopStage) shake(ctx context.Context, round int) error {
	switch round {
	case 8, 24:
		if err := s.first().Kill(); err != nil {
			return err
		}
	case 16:
		if err := s.first().Stop(); err != nil {
			return err
		}
	default:
		return nil
	}
	return s.start(ctx)
}
