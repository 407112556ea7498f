package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

const (
	pingService = "testdata/golden/accepted/effects_on_redis"
	pingTopic   = "users.v1"
	pingUsers   = 40
	pingers     = 2 // processes
	pingsAtOnce = 8 // limits.effect_concurrency
	pingRate    = 60
)

// pingStage is a service that counts pings of users, each once, and calls somebody for each.
type pingStage struct {
	*processes
	postgres *idemtest.Postgres
	broker   *idemtest.Broker
	db       *pgx.Conn
	records  int
	ends     map[int32]int64
	events   map[wire.UUID]bool
	sent     map[wire.UUID]int // events of each user

	passed  map[int32]int64
	moved   time.Time // when the ledger moved last, or had nothing to do
	longest time.Duration
}

func (k *kit) openPings(ctx context.Context, redis string) (p *pingStage, err error) {
	p = &pingStage{processes: newProcesses(), ends: map[int32]int64{}, events: map[wire.UUID]bool{}, sent: map[wire.UUID]int{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.postgres, err = idemtest.StartPostgres(ctx, idemtest.PostgresOptions{TCP: true}); err != nil {
		return p, err
	}
	if err := p.postgres.Migrate(ctx, filepath.Join(pingService, "migrations")); err != nil {
		return p, err
	}
	if p.db, err = pgx.Connect(ctx, p.postgres.URL()); err != nil {
		return p, err
	}
	if _, err := p.db.Exec(ctx, `CREATE TABLE calls (event uuid NOT NULL)`); err != nil {
		return p, err
	}
	for i := range pingUsers {
		if _, err := p.db.Exec(ctx, `INSERT INTO pushes (user_id) VALUES ($1)`, uuid(1, i)); err != nil {
			return p, err
		}
	}
	if p.broker, err = idemtest.StartBroker(map[string]int32{pingTopic: partitions}); err != nil {
		return p, err
	}
	for range pingers {
		id := fmt.Sprintf("pinger-%d", len(p.started))
		q, err := stage.Start(ctx, []string{
			script.Client + "=" + id, script.Brokers + "=" + p.broker.Addr(), script.Database + "=" + p.postgres.URL(), script.Redis + "=" + redis,
			script.Session + "=30000",
		}, k.program("pinger"))
		if err != nil {
			return p, err
		}
		p.add(q, id)
	}
	return p, p.running[0].Works(ctx)
}

// close ends what openPings began.
func (p *pingStage) close() error {
	err := p.processes.close()
	if p.broker != nil {
		p.broker.Close()
	}
	if p.db != nil {
		err = errors.Join(err, p.db.Close(context.Background()))
	}
	if p.postgres != nil {
		err = errors.Join(err, p.postgres.Close())
	}
	return err
}

// load sends pings until do has returned, each tenth one twice.
func (p *pingStage) load(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(time.Second / pingRate)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return errors.Join(err, p.dead())
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if err := p.ping(ctx); err != nil {
				return err
			}
			if _, err := p.look(ctx); err != nil {
				return err
			}
		}
	}
}

// ping sends the next event.
func (p *pingStage) ping(ctx context.Context) error {
	n := len(p.events)
	event, user := uuid(2, n), uuid(1, n%pingUsers)
	copies := 1
	if n%10 == 0 {
		copies = 2
	}
	for range copies {
		m := &wire.Message{
			Topic: pingTopic, Partition: idemtest.ByKey, Key: []byte(user.String()), Value: []byte(`{}`),
			Headers: []wire.Header{{Name: "event-type", Value: []byte("user.pinged")}, {Name: "id", Value: []byte(event.String())}},
		}
		if err := p.broker.Produce(ctx, m); err != nil {
			return err
		}
		p.ends[m.Partition] = m.Offset + 1
		p.records++
	}
	p.events[event] = true
	p.sent[user]++
	return nil
}

// uuid is the n-th of a kind.
func uuid(kind byte, n int) wire.UUID {
	return wire.UUID{kind, 6: 0x40, 8: 0x80, 14: byte(n >> 8), 15: byte(n)}
}

// look compares the ledger with the log, and reports whether all is passed.
func (p *pingStage) look(ctx context.Context) (all bool, err error) {
	passed, err := audit.Passed(ctx, p.db)
	if err != nil {
		return false, err
	}
	all = len(audit.Unread(passed, p.ends)) == 0
	if all || !maps.Equal(passed, p.passed) || p.moved.IsZero() {
		p.passed, p.moved = passed, time.Now()
	}
	p.longest = max(p.longest, time.Since(p.moved))
	return all, nil
}

// caughtUp waits until the ledger has passed all records.
func (p *pingStage) caughtUp(ctx context.Context) error {
	err := stage.Until(ctx, patience, func() (bool, error) {
		all, err := p.look(ctx)
		return all, errors.Join(err, p.dead())
	})
	if errors.Is(err, stage.ErrTimeout) {
		return fmt.Errorf("not caught up in %v; last lines:\n%s", patience, p.started[0].Log)
	}
	return err
}

// audit compares rows, dead letters and calls with the events.
func (p *pingStage) audit(ctx context.Context) (all []audit.Finding, calls int, err error) {
	tell := func(kind audit.Kind, format string, args ...any) {
		all = append(all, audit.Finding{Kind: kind, What: fmt.Sprintf(format, args...)})
	}
	rows, err := p.db.Query(ctx, `SELECT user_id, sent FROM pushes`)
	if err != nil {
		return nil, 0, err
	}
	var user wire.UUID
	var sent int
	_, err = pgx.ForEachRow(rows, []any{&user, &sent}, func() error {
		switch want := p.sent[user]; {
		case sent < want:
			tell(audit.Lost, "user %v has %d of %d pings", user, sent, want)
		case sent > want:
			tell(audit.Doubled, "user %v has %d pings, not %d", user, sent, want)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	var called, dead int
	err = p.db.QueryRow(ctx, `SELECT count(*), count(DISTINCT event), (SELECT count(*) FROM idem_dead_letter) FROM calls`).Scan(&calls, &called, &dead)
	if called < len(p.events) {
		tell(audit.Lost, "%d of %d events were called", called, len(p.events))
	}
	if dead > 0 {
		tell(audit.Lost, "%d events became dead letters", dead)
	}
	return all, calls, err
}
