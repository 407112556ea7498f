package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/shop"
)

// wholeRoad sends the shop's events by an outbox, through relays that die, to the orders example:
// what its database says is what the topic holds, and copies of relays count once.
func wholeRoad(ctx context.Context, k *kit) (_ string, err error) {
	s, err := k.openShop(ctx, "")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	d := &desk{k: k}
	if d.db, err = openDatabase(ctx, nil, outbox.Migration(outbox.ByRelay),
		`ALTER TABLE idem_outbox ADD COLUMN "event-type" text, ADD COLUMN "Idempotency-Key" text`); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := s.works(ctx, 2); err != nil {
		return "", err
	}
	const deaths = 4
	events := s.events(2000)
	if err := d.order(ctx, events); err != nil {
		return "", err
	}
	for n := range deaths {
		p, err := d.sendTo(ctx, shop.Topic, 50*(n+1))
		if err != nil {
			return "", err
		}
		if !p.Wait(patience) {
			return "", fmt.Errorf("the relay was not killed; last lines:\n%s", p.Log)
		}
	}
	if _, err := d.sendTo(ctx, shop.Topic, 0); err != nil {
		return "", err
	}
	if err := d.empty(ctx); err != nil {
		return "", err
	}
	records, err := k.read(ctx, shop.Topic)
	if err != nil {
		return "", err
	}
	again := len(records) - len(events)
	if again <= 0 {
		return "", fmt.Errorf("%d records of %d events: no relay sent one twice", len(records), len(events))
	}
	for _, r := range records {
		s.sent(message(r))
	}
	if err := s.caughtUp(ctx); err != nil {
		return "", err
	}
	if err := s.stopAll(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d events, %d copies of %d relays that died, each applied once", len(events), again, deaths), s.right(ctx)
}

// order writes messages into the outbox, as a shop would.
func (d *desk) order(ctx context.Context, messages []*wire.Message) error {
	for len(messages) > 0 {
		n := min(20, len(messages))
		err := pgx.BeginFunc(ctx, d.db.pool, func(tx pgx.Tx) error {
			for _, m := range messages[:n] {
				e := outbox.Event{AggregateType: "order", AggregateID: string(m.Key), Type: "Ordered", Headers: map[string]string{}}
				if m.Value != nil {
					e.Payload = outbox.Bytes(m.Value)
				}
				for _, h := range m.Headers {
					e.Headers[h.Name] = string(h.Value)
				}
				if err := outbox.Write(ctx, tx, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		messages = messages[n:]
	}
	return nil
}

// message is a record as the audit reads it.
func message(r *kafka.Message) *wire.Message {
	m := &wire.Message{
		Topic: *r.TopicPartition.Topic, Partition: r.TopicPartition.Partition, Offset: int64(r.TopicPartition.Offset),
		Time: r.Timestamp, Key: r.Key, Value: r.Value,
	}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, wire.Header{Name: h.Key, Value: h.Value})
	}
	return m
}
