package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

const (
	mailTopic   = "users.v1"
	mailGroup   = "welcome-mailer"
	mailsAtOnce = 8 // calls of one partition that a kill can cut off, at most
)

// mails runs the welcome-mail example: one call for each user while all is well; when a process is
// killed, none is made twice, and what was cut off is a dead letter.
func mails(ctx context.Context, k *kit) (_ string, err error) {
	redis, err := redistest.Run(ctx, map[string]string{"appendonly": "yes"})
	if err != nil {
		return "", err
	}
	defer redis.Close()
	db, err := openDatabase(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	if err := db.Migrate(ctx, "examples/welcome-mail/migrations"); err != nil {
		return "", err
	}
	if _, err := db.pool.Exec(ctx, `CREATE TABLE calls (email text NOT NULL)`); err != nil {
		return "", err
	}
	if err := k.fresh(ctx, mailTopic, mailGroup, partitions); err != nil {
		return "", err
	}
	m := &mailStage{k: k, db: db, redis: redis.Addr()}
	defer func() { err = errors.Join(err, m.close()) }()
	const calm, stormy = 100, 200
	if err := m.calm(ctx, calm); err != nil {
		return "", err
	}
	dead, err := m.storm(ctx, calm, calm+stormy)
	return fmt.Sprintf("%d events, each twice: one call each; one kill -9, %d cut off are dead letters, none called twice", calm+stormy, dead), err
}

// mailStage is the processes of the mailer.
type mailStage struct {
	k       *kit
	db      *database
	redis   string
	started []*stage.Process
}

func (m *mailStage) close() error {
	var errs []error
	for _, p := range m.started {
		errs = append(errs, p.Kill())
	}
	return errors.Join(errs...)
}

func (m *mailStage) start(ctx context.Context) error {
	p, err := stage.Start(ctx, []string{script.Brokers + "=" + m.k.broker.Addr(), script.Database + "=" + m.db.URL(), script.Redis + "=" + m.redis}, m.k.program("mailer"))
	if err != nil {
		return err
	}
	m.started = append(m.started, p)
	return p.Works(ctx)
}

// send sends the events of some users, each twice.
func (m *mailStage) send(ctx context.Context, from, to int) error {
	var all []*wire.Message
	for n := from; n < to; n++ {
		user := wire.UUID{1, 6: 0x40, 8: 0x80, 14: byte(n >> 8), 15: byte(n)}
		message := &wire.Message{
			Topic: mailTopic, Partition: int32(n % partitions), Key: []byte(user.String()), Time: time.Now().Truncate(time.Millisecond),
			Value:   fmt.Appendf(nil, `{"email":"user-%d@example.com","name":"User"}`, n),
			Headers: []wire.Header{{Name: "event-type", Value: []byte("user.created")}, {Name: "event-id", Value: fmt.Appendf(nil, "event-%d", n)}},
		}
		again := *message
		all = append(all, message, &again)
	}
	return m.k.produce(ctx, all...)
}

// settled waits until n users have a mail or a dead letter, and returns the dead letters.
func (m *mailStage) settled(ctx context.Context, n int) (dead int, err error) {
	mails := 0
	err = stage.Until(ctx, patience, func() (bool, error) {
		err := m.db.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM mails), (SELECT count(*) FROM idem_dead_letter)`).Scan(&mails, &dead)
		return mails+dead >= n, err
	})
	if err != nil {
		return dead, fmt.Errorf("%d mails and %d dead letters of %d events: %w; last lines:\n%s", mails, dead, n, err, m.started[len(m.started)-1].Log)
	}
	return dead, nil
}

// once holds that no user was called twice, and that n were called.
func (m *mailStage) once(ctx context.Context, n int) error {
	var calls, users int
	err := m.db.pool.QueryRow(ctx, `SELECT count(*), count(DISTINCT email) FROM calls`).Scan(&calls, &users)
	if err == nil && (calls != users || users < n) {
		err = fmt.Errorf("%d calls of %d users, want one call of %d users", calls, users, n)
	}
	return err
}

// calm is a healthy system.
func (m *mailStage) calm(ctx context.Context, n int) error {
	for range 2 {
		if err := m.start(ctx); err != nil {
			return err
		}
	}
	if err := m.send(ctx, 0, n); err != nil {
		return err
	}
	dead, err := m.settled(ctx, n)
	if err == nil && dead > 0 {
		err = fmt.Errorf("%d dead letters of a healthy system", dead)
	}
	if err != nil {
		return err
	}
	return m.once(ctx, n)
}

// storm kills a process while it calls.
func (m *mailStage) storm(ctx context.Context, from, to int) (dead int, err error) {
	if err := m.send(ctx, from, to); err != nil {
		return 0, err
	}
	err = stage.Until(ctx, patience, func() (bool, error) {
		n, err := m.db.count(ctx, `SELECT count(*) FROM calls`)
		return n >= from+20, err
	})
	if err != nil {
		return 0, err
	}
	if err := m.started[0].Kill(); err != nil {
		return 0, err
	}
	if dead, err = m.settled(ctx, to); err != nil {
		return dead, err
	}
	if dead > mailsAtOnce*partitions {
		return dead, fmt.Errorf("%d dead letters, more than were under way", dead)
	}
	return dead, m.once(ctx, to-dead)
}
