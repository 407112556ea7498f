package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/takeover"
	"github.com/idemgen/idemgen/examples/takeover/byhand"
	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/audit"
)

var takeoverFaults = []fault{
	{name: "taken over from a consumer by hand, given back, and taken over again", alone: takenOver},
}

// move is a service that takes over from a consumer by hand, under load.
type move struct {
	kit    *kit
	db     *pgxpool.Pool
	url    string
	broker *idemtest.Broker

	mu   sync.Mutex
	sent map[string]int64 // cents by id
	sums map[string]int64 // by account
	n    int              // records, with copies
}

// stretch is how long each of the two consumes before the other takes over.
const stretch = 4 * time.Second

// takenOver follows docs/adopt.md, step by step, while records come, a fifth of them copies of
// earlier ones, from before the move, too.
func takenOver(ctx context.Context, k *kit) (_ *outcome, err error) {
	server, err := idemtest.StartPostgres(ctx, idemtest.PostgresOptions{Durable: true, TCP: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	m := &move{kit: k, url: server.URL(), sent: map[string]int64{}, sums: map[string]int64{}}
	if m.db, err = pgxpool.New(ctx, m.url); err != nil {
		return nil, err
	}
	defer m.db.Close()
	if m.broker, err = idemtest.StartBroker(map[string]int32{byhand.Topic: 4}); err != nil {
		return nil, err
	}
	defer m.broker.Close()
	if _, err := m.db.Exec(ctx, byhand.Tables); err != nil {
		return nil, err
	}
	if err := server.Migrate(ctx, filepath.Join("examples", "takeover", "migrations")); err != nil {
		return nil, err
	}
	producing, enough := context.WithCancel(ctx)
	defer enough()
	produced := make(chan error, 1)
	go func() { produced <- m.produce(producing) }()
	for range 2 {
		if err := during(ctx, stretch, func(ctx context.Context) error { return byhand.Run(ctx, m.broker.Addr(), m.db) }); err != nil {
			return nil, fmt.Errorf("the consumer by hand: %w", err)
		}
		if err := m.adopt(ctx); err != nil {
			return nil, err
		}
		if err := during(ctx, stretch, m.serve); err != nil {
			return nil, fmt.Errorf("the service: %w", err)
		}
	}
	enough()
	if err := <-produced; err != nil {
		return nil, err
	}
	if err := m.finish(ctx); err != nil {
		return nil, err
	}
	findings, err := m.audit(ctx)
	return &outcome{did: "twice each", records: m.n, findings: findings}, err
}

// during runs something for a while, and waits until it has ended.
func during(ctx context.Context, d time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return do(ctx)
}

// produce sends payments, and copies of earlier ones, until its context ends.
func (m *move) produce(ctx context.Context) error {
	r := rand.New(rand.NewPCG(7, 7))
	var ids []string
	for ctx.Err() == nil {
		var records []*idem.Message
		m.mu.Lock()
		for range 20 {
			id := fmt.Sprintf("payment-%d", len(ids))
			if len(ids) > 0 && r.IntN(5) == 0 {
				id = ids[r.IntN(len(ids))]
			} else {
				ids = append(ids, id)
				m.sent[id] = r.Int64N(1000)
				m.sums[account(id)] += m.sent[id]
			}
			records = append(records, &idem.Message{Topic: byhand.Topic, Partition: r.Int32N(4), Key: []byte(account(id)),
				Headers: []idem.Header{{Name: "Idempotency-Key", Value: []byte(id)}}, Value: fmt.Appendf(nil, `{"account_id": %q, "cents": %d}`, account(id), m.sent[id])})
		}
		m.n += len(records)
		m.mu.Unlock()
		if err := m.broker.Produce(context.WithoutCancel(ctx), records...); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// account is that of a payment.
func account(id string) string { return "account-" + id[len(id)-1:] }

// adopt makes the ids of the consumer by hand known.
func (m *move) adopt(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, m.kit.program("idemgen"), "adopt", "keys", "--spec", filepath.Join("examples", "takeover"), "--event", "PaymentReceived",
		"--from", "SELECT event_id, processed_at FROM processed_messages")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+m.url)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("adopt: %w: %s", err, out)
	}
	return nil
}

// serve runs the service in the group of the consumer by hand.
func (m *move) serve(ctx context.Context) error {
	c, err := takeover.NewConsumer(m.db, idem.WithGroup(byhand.Group), idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	return c.Run(ctx, &franz.Source{Brokers: m.broker.Addr(), Logger: slog.New(slog.DiscardHandler)})
}

// finish has the service apply what is left.
func (m *move) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- m.serve(running) }()
	ends := m.broker.Ends(byhand.Topic)
	var left int64 = -1
	for left != 0 && ctx.Err() == nil {
		if err := m.db.QueryRow(ctx, `SELECT coalesce(sum(e - coalesce((SELECT next FROM idem_ledger JOIN idem_stream USING (stream) WHERE partition = p - 1 ORDER BY seq DESC LIMIT 1), 0)), 0)
			FROM unnest($1::bigint[]) WITH ORDINALITY AS u (e, p)`, ends).Scan(&left); err != nil {
			stop()
			return errors.Join(err, <-ended)
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	err := <-ended
	if left != 0 {
		err = errors.Join(err, fmt.Errorf("%d records were not applied in time", left))
	}
	return err
}

// audit compares the rows with what was sent.
func (m *move) audit(ctx context.Context) (found []audit.Finding, err error) {
	say := func(kind audit.Kind, format string, args ...any) {
		found = append(found, audit.Finding{Kind: kind, What: fmt.Sprintf(format, args...)})
	}
	for account, want := range m.sums {
		var got int64
		if err := m.db.QueryRow(ctx, `SELECT coalesce(max(cents), 0) FROM accounts WHERE account_id = $1`, account).Scan(&got); err != nil {
			return nil, err
		}
		switch {
		case got < want:
			say(audit.Lost, "%s has %d cents, want %d", account, got, want)
		case got > want:
			say(audit.Doubled, "%s has %d cents, want %d", account, got, want)
		}
	}
	var ids, dead int
	if err := m.db.QueryRow(ctx, `SELECT (SELECT count(*) FROM processed_messages), (SELECT count(*) FROM idem_dead_letter)`).Scan(&ids, &dead); err != nil {
		return nil, err
	}
	if ids != len(m.sent) || dead != 0 {
		say(audit.Lost, "%d ids, want %d; %d dead letters", ids, len(m.sent), dead)
	}
	return found, nil
}
