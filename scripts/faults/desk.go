package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// desk is an outbox in the database of a part, relays, and the book of what was written.
type desk struct {
	*processes // the relays
	book
	part   *part
	pool   *pgxpool.Pool
	number int // of transactions
}

// relays are the processes that send: one leads.
const relays = 2

// openDesk has the records of a part go through an outbox.
func openDesk(ctx context.Context, p *part) (*desk, error) {
	d := &desk{processes: newProcesses(), part: p}
	err := p.exec(ctx, outbox.Migration(outbox.ByRelay)+`
ALTER TABLE idem_outbox ADD COLUMN "event-type" text, ADD COLUMN "Idempotency-Key" text;
CREATE TABLE written (n int PRIMARY KEY)`)
	if err != nil {
		return nil, err
	}
	if d.pool, err = pgxpool.New(ctx, p.database()); err != nil {
		return nil, err
	}
	p.put = d.write
	p.topicLog.onClose = append(p.topicLog.onClose, func() error { d.pool.Close(); return d.close() })
	return d, nil
}

// start starts a relay.
func (d *desk) start(ctx context.Context) error {
	p := d.part
	process, err := stage.Start(ctx, append(p.drawn(),
		script.Brokers+"="+p.kafka.Addr().String(), script.Database+"="+p.dsn, script.Relayed+"="+p.topic,
	), p.kit.program("sender"))
	if err != nil {
		return err
	}
	d.add(process, "")
	return nil
}

// begin starts the relays, and has the topic read into its log.
func (d *desk) begin(ctx context.Context) error {
	for range relays {
		if err := d.start(ctx); err != nil {
			return err
		}
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(d.part.broker.Addr()), kgo.ConsumeTopics(d.part.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			fetches := client.PollFetches(ctx)
			if fetches.IsClientClosed() || ctx.Err() != nil {
				return
			}
			fetches.EachRecord(d.part.arrived)
		}
	})
	d.part.topicLog.onClose = append(d.part.topicLog.onClose, func() error { client.Close(); reading.Wait(); return nil })
	return nil
}

// arrived adds a record of the topic to the log.
func (l *topicLog) arrived(r *kgo.Record) {
	m := &wire.Message{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Key: r.Key, Value: r.Value, Time: r.Timestamp}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, wire.Header{Name: h.Key, Value: h.Value})
	}
	l.sent(m)
}

// transaction writes events, and commits them or not.
type transaction struct {
	number int
	events []outbox.Event
	undone bool // it is rolled back
	ended  bool
}

// write writes messages into the outbox, those of an order in one of several transactions that are
// open at the same time and end in any order. One of them is rolled back.
func (d *desk) write(ctx context.Context, messages []*wire.Message) error {
	const writers = 3
	var all []*transaction
	for i := range writers {
		d.number++
		all = append(all, &transaction{number: d.number, undone: i == 0})
	}
	for _, m := range messages {
		e, last := d.enter(m, false), m.Key[len(m.Key)-1]
		t := all[1+int(last)%(writers-1)]
		t.events = append(t.events, e)
	}
	placed := d.part.shop.Placed("")
	d.part.shop.Forget()
	for _, m := range []*wire.Message{placed, d.part.shop.Shipped(), d.part.shop.Paid()} {
		all[0].events = append(all[0].events, d.enter(m, true))
	}
	var last error
	err := stage.Until(ctx, patience, func() (bool, error) {
		last = d.try(ctx, all)
		return last == nil, nil
	})
	if errors.Is(err, stage.ErrTimeout) {
		err = fmt.Errorf("the outbox: %w", last)
	}
	return err
}

// try does what is left of transactions. Whether one of them had committed whose end was not heard
// of, its number tells.
func (d *desk) try(ctx context.Context, all []*transaction) error {
	var ends []func() error
	defer func() {
		for _, end := range ends {
			_ = end() // after an error: the connection is gone
		}
	}()
	for _, t := range all {
		if t.ended {
			continue
		}
		tx, err := d.pool.Begin(ctx)
		if err != nil {
			return err
		}
		end := tx.Commit
		if t.undone {
			end = tx.Rollback
		}
		_, err = tx.Exec(ctx, `INSERT INTO written VALUES ($1)`, t.number)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "23505" {
			t.ended = true
			if err := tx.Rollback(ctx); err != nil {
				return err
			}
			continue
		}
		if err == nil {
			err = outbox.Write(ctx, tx, t.events...)
		}
		if err != nil {
			return errors.Join(err, tx.Rollback(ctx))
		}
		ends = append(ends, func() error {
			err := end(ctx)
			t.ended = err == nil
			return err
		})
	}
	slices.Reverse(ends) // the lowest number ends last
	for len(ends) > 0 {
		end := ends[0]
		ends = ends[1:]
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// sent waits until the topic holds what the outbox held, and ends the relays.
func (d *desk) sent(ctx context.Context) error {
	left := 0
	err := stage.Until(ctx, patience, func() (bool, error) {
		err := d.pool.QueryRow(ctx, `SELECT count(*) FROM idem_outbox`).Scan(&left)
		return left == 0, errors.Join(err, d.dead())
	})
	if errors.Is(err, stage.ErrTimeout) {
		err = fmt.Errorf("%d events wait in the outbox", left)
	}
	if err := errors.Join(err, d.stopAll()); err != nil {
		return err
	}
	ends := d.part.broker.Ends(d.part.topic)
	err = stage.Until(ctx, patience, func() (bool, error) {
		read := d.part.known()
		for p, end := range ends {
			if read[int32(p)] < end {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("the topic was not read: %w", err)
	}
	return nil
}

// causes are the times in which records may be sent that a relay sends again.
func (d *desk) causes() []outage {
	all := d.part.past()
	for _, p := range d.started {
		if at := p.EndedAt(); !at.IsZero() {
			all = append(all, outage{p.KilledAt(), at})
		}
	}
	return all
}

// book is what was written into an outbox.
type book struct {
	events []entry
}

// entry is an event of an outbox.
type entry struct {
	*wire.Message
	undone bool // its transaction was rolled back
}

// enter makes an event of a message, whose number is its id.
func (b *book) enter(m *wire.Message, undone bool) outbox.Event {
	e := outbox.Event{ID: uuid(3, len(b.events)), AggregateType: "order", AggregateID: string(m.Key), Type: "Ordered", Headers: map[string]string{}}
	b.events = append(b.events, entry{m, undone})
	if m.Value != nil {
		e.Payload = outbox.Bytes(m.Value)
	}
	for _, h := range m.Headers {
		e.Headers[h.Name] = string(h.Value)
	}
	return e
}

// compare holds the records of the topic against the book: each event that was committed is there,
// and no other, under its key, those of a key in one partition and in their order. One is there
// again only if something cut its sender off in between.
func (b *book) compare(records []*wire.Message, causes []outage) (copies int, found []audit.Finding) {
	tell := func(kind audit.Kind, format string, args ...any) {
		found = append(found, audit.Finding{Kind: kind, What: fmt.Sprintf(format, args...)})
	}
	last := map[int]time.Time{}
	newest, home := map[string]int{}, map[string]int32{}
	for _, m := range records {
		n, err := eventOf(header(m, "id"))
		if err != nil || n >= len(b.events) || b.events[n].undone {
			tell(audit.Doubled, "event %q is in the topic, and was not committed", header(m, "id"))
			continue
		}
		key := string(m.Key)
		if e := b.events[n]; key != string(e.Key) || string(m.Value) != string(e.Value) || (m.Value == nil) != (e.Value == nil) {
			tell(audit.Altered, "event %d of key %s has key %s, or another value", n, e.Key, key)
			continue
		}
		if p, known := home[key]; known && p != m.Partition {
			tell(audit.Reordered, "event %d of key %s is in partition %d, those before in %d", n, key, m.Partition, p)
		}
		home[key] = m.Partition
		before, again := last[n]
		last[n] = m.Time
		if again {
			copies++
			if !slices.ContainsFunc(causes, func(o outage) bool {
				return !o.begin.After(m.Time.Add(time.Millisecond)) && !o.end.Before(before) // times of Kafka have no more digits
			}) {
				tell(audit.Doubled, "event %d of key %s was sent again at %v, and nothing had happened since %v", n, key, m.Time, before)
			}
			continue
		}
		if n < newest[key] {
			tell(audit.Reordered, "event %d of key %s came after %d", n, key, newest[key])
		}
		newest[key] = n
	}
	for n, e := range b.events {
		if _, sent := last[n]; !sent && !e.undone {
			tell(audit.Lost, "event %d of key %s", n, e.Key)
		}
	}
	return copies, found
}

// header is the text of a record's header.
func header(m *wire.Message, name string) string {
	i := slices.IndexFunc(m.Headers, func(h wire.Header) bool { return h.Name == name })
	if i < 0 {
		return ""
	}
	return string(m.Headers[i].Value)
}
