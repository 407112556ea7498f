package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// messages are those produced so far.
func (l *topicLog) messages() []*wire.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.log)
}

// known are the ends of the log, by partition.
func (l *topicLog) known() map[int32]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.ends)
}

// send produces messages that consumers must see.
func (l *topicLog) send(ctx context.Context, messages ...*wire.Message) error {
	return l.compose(ctx, func(*shop.Maker) []*wire.Message { return messages })
}

// compose makes messages and produces them. One at a time: the log here keeps the order of
// the broker's.
func (l *topicLog) compose(ctx context.Context, do func(*shop.Maker) []*wire.Message) error {
	l.making.Lock()
	defer l.making.Unlock()
	messages := do(l.shop)
	if l.put != nil {
		return l.put(ctx, messages)
	}
	if err := l.broker.Produce(ctx, messages...); err != nil {
		return err
	}
	l.sent(messages...)
	return nil
}

func (l *topicLog) sent(messages ...*wire.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log = append(l.log, messages...)
	for _, m := range messages {
		l.ends[m.Partition] = max(l.ends[m.Partition], m.Offset+1)
	}
}

// events makes about n events and their copies.
func events(n int) func(*shop.Maker) []*wire.Message {
	return func(m *shop.Maker) (messages []*wire.Message) {
		for len(messages) < n {
			for _, e := range m.Next() {
				messages = append(messages, e.Message)
			}
		}
		return messages
	}
}

// produce sends about n records at once.
func (l *topicLog) produce(ctx context.Context, n int) error {
	return l.compose(ctx, func(*shop.Maker) []*wire.Message { return l.next(n) })
}

// chunk is how many records load sends at a time.
const chunk = 20

// load sends perSecond records until do is done.
func (l *topicLog) load(ctx context.Context, perSecond int, do func() error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	sent := make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Second * chunk / time.Duration(perSecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				sent <- nil
				return
			case <-tick.C:
			}
			// A record that was sent must be known to have been, so that ctx may not cut it short.
			if err := l.produce(context.WithoutCancel(ctx), chunk); err != nil {
				sent <- fmt.Errorf("the load: %w", err)
				return
			}
		}
	}()
	err := do()
	stop()
	return errors.Join(err, <-sent)
}

// repeat does something n times with pauses, while load runs.
func (l *topicLog) repeat(ctx context.Context, n int, pause time.Duration, do func(i int) error) error {
	return l.load(ctx, rate, func() error {
		for i := range n {
			if err := do(i); err != nil {
				return err
			}
			if err := stage.Pause(ctx, pause); err != nil {
				return err
			}
		}
		return nil
	})
}

// rate is the usual load in records a second.
const rate = 400

// patience is how long a partition may stand, with work there, before it counts as stuck. An
// owner that another one fenced waits for twice limits.batch_timeout, which is a minute, and
// for twice as long the next time.
const patience = 3 * time.Minute

// settle waits until the ledger has passed the whole log, or stands.
func (t *theatre) settle(ctx context.Context) []audit.Finding {
	for {
		unread, standing := t.monitor.unread()
		switch {
		case len(unread) == 0:
			return nil
		case standing > patience || ctx.Err() != nil:
			return unread
		}
		if err := t.dead(); err != nil {
			return append(unread, audit.Finding{Kind: audit.Stuck, What: err.Error()})
		}
		_ = stage.Pause(ctx, 50*time.Millisecond) // its only error is seen above
	}
}

// caughtUp is settle as an error.
func (t *theatre) caughtUp(ctx context.Context) error {
	if unread := t.settle(ctx); len(unread) > 0 {
		return fmt.Errorf("not caught up: %v", unread)
	}
	return nil
}

// moves waits until the ledger has passed n more records.
func (t *theatre) moves(ctx context.Context, n int64, patience time.Duration) error {
	before := t.monitor.sum()
	err := stage.Until(ctx, patience, func() (bool, error) { return t.monitor.sum() >= before+n, t.dead() })
	if errors.Is(err, stage.ErrTimeout) {
		return fmt.Errorf("no progress in %v", patience)
	}
	return err
}

// movesAll waits until the ledger has passed more of every partition.
func (t *theatre) movesAll(ctx context.Context, patience time.Duration) error {
	before := t.monitor.partitions()
	left := ""
	err := stage.Until(ctx, patience, func() (bool, error) {
		left = ""
		for p, next := range t.monitor.partitions() {
			if next <= before[p] {
				left += fmt.Sprintf(" %d", p)
			}
		}
		return left == "", t.dead()
	})
	if errors.Is(err, stage.ErrTimeout) {
		return fmt.Errorf("no progress of partitions%s in %v", left, patience)
	}
	return err
}

// audit compares the database with the log.
func (t *theatre) audit(ctx context.Context) ([]audit.Finding, error) {
	return t.auditAt(ctx, t.database())
}

func (t *theatre) auditAt(ctx context.Context, at string) ([]audit.Finding, error) {
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	var found []audit.Finding
	if t.users != nil {
		found, err = t.users.audit(ctx, t, conn)
	} else {
		found, err = audit.Audit(ctx, t.kit.service, t.paid, conn, t.messages())
	}
	return found, errors.Join(err, conn.Close(ctx))
}
