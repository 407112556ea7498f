package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// topic of the service that README shows.
const topic = "orders.v1"

// orders are the events so far: one order after the other, with a payment each.
type orders struct {
	count  int
	sent   int // records
	resent int // of these, duplicates
	log    []*wire.Message
}

const perRound = 500 // orders

// more are new orders, and duplicates of all payments so far.
func (o *orders) more() []*wire.Message {
	payments := make([]*wire.Message, 0, len(o.log)/2)
	for i, m := range o.log {
		if i%2 == 1 {
			payments = append(payments, m)
		}
	}
	o.resent += len(payments)
	return slices.Concat(payments, o.next(perRound))
}

// few are new orders only.
func (o *orders) few() []*wire.Message { return o.next(perRound / 10) }

// next makes orders, which are placed and paid: order n of n+1, with n.50.
func (o *orders) next(count int) (all []*wire.Message) {
	for range count {
		o.count++
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", o.count)
		for _, e := range []struct{ kind, value string }{
			{"order.placed", fmt.Sprintf(`{"order_id":%q,"total":%d}`, id, o.count+1)},
			{"order.paid", fmt.Sprintf(`{"payment_id":%q,"order_id":%q,"amount":%d.50}`, id, id, o.count)},
		} {
			all = append(all, &wire.Message{
				Topic: topic, Partition: int32(o.count % partitions), Key: []byte(id), Value: []byte(e.value),
				Headers: []wire.Header{{Name: "event-type", Value: []byte(e.kind)}, {Name: "Idempotency-Key", Value: []byte(e.kind + "-" + id)}},
			})
		}
	}
	o.log = append(o.log, all...)
	return all
}

// send sends records to the log.
func (u *upgraded) send(ctx context.Context, messages []*wire.Message) error {
	u.orders.sent += len(messages)
	return u.broker.Produce(ctx, messages...)
}

// audit is an error unless each order has its row, with its payment counted once.
func (o *orders) audit(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `SELECT right(order_id::text, 12)::int, total::float8, paid::float8 FROM orders ORDER BY 1`)
	if err != nil {
		return err
	}
	var wrong []error
	at := 0
	var number int
	var total, paid float64
	_, err = pgx.ForEachRow(rows, []any{&number, &total, &paid}, func() error {
		if at++; number != at || total != float64(at+1) || paid != float64(at)+0.5 {
			wrong = append(wrong, fmt.Errorf("row %d is order %d of %g, paid %g", at, number, total, paid))
		}
		return nil
	})
	if at != o.count {
		wrong = append(wrong, fmt.Errorf("%d rows, want %d", at, o.count))
	}
	letters, reason := 0, ""
	err = errors.Join(err, conn.QueryRow(ctx, `SELECT count(*), coalesce(min(reason), '') FROM idem_dead_letter`).Scan(&letters, &reason))
	if letters > 0 {
		wrong = slices.Insert(wrong, 0, fmt.Errorf("%d dead letters: %s", letters, reason))
	}
	return errors.Join(append(wrong[:min(len(wrong), 10)], err)...)
}
