package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// cause is why a record is in the log.
type cause int

const (
	original  cause = iota
	resent          // the producer sent it again at once: other offset, same key
	old             // an old record, produced again much later
	reused          // a known key with other content
	broken          // does not decode, or does not fit its column
	tombstone       // removes an order
)

// entry is a record and why it is there.
type entry struct {
	message *wire.Message
	cause   cause
}

// maker makes orders with the shape of a real shop's, always the same ones.
type maker struct {
	random *rand.Rand
	clock  time.Time
	orders int
	open   []order // orders that exist
	out    []entry
}

type order struct {
	id      string
	payable int
}

type shopLog struct {
	records []entry
}

const (
	oldAgain = 2_000
	bad      = 10
)

// newLog makes the log: mostly orders, payments and shipments, with producer retries
// throughout, 2,000 old records again in the second half, one key with other content, ten
// broken records, and tombstones.
func newLog() *shopLog {
	m := &maker{random: rand.New(rand.NewPCG(7, 11)), clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	for len(m.out) < total/2 {
		m.next()
	}
	m.out = m.out[:total/2]
	first := m.keyed(m.out[:total/4])
	rest := total/2 - oldAgain - bad - 1
	for n := len(m.out); len(m.out) < n+rest; {
		m.next()
	}
	m.out = m.out[:total/2+rest]
	second := m.out[total/2:]
	for i := range oldAgain {
		second = append(second, entry{again(first[i*len(first)/oldAgain].message), old})
	}
	second = append(second, entry{changed(first[0].message), reused})
	for i := range bad {
		second = append(second, m.broken(i))
	}
	// Spread what was added over the half, not before its order was placed.
	m.random.Shuffle(oldAgain+bad+1, func(i, j int) {
		i, j = i+rest, j+rest
		second[i], second[j] = second[j], second[i]
	})
	return &shopLog{append(m.out[:total/2:total/2], interleave(second[:rest], second[rest:])...)}
}

// interleave spreads extra evenly over base.
func interleave(base, extra []entry) []entry {
	out := make([]entry, 0, len(base)+len(extra))
	taken := 0
	for i, e := range base {
		out = append(out, e)
		for due := (i + 1) * len(extra) / len(base); taken < due; taken++ {
			out = append(out, extra[taken])
		}
	}
	return append(out, extra[taken:]...)
}

// keyed are the entries whose events carry a key of their own.
func (m *maker) keyed(entries []entry) []entry {
	var out []entry
	for _, e := range entries {
		if e.cause == original {
			out = append(out, e)
		}
	}
	return out
}

// next adds one event, and sometimes the producer's retry of it.
func (m *maker) next() {
	m.clock = m.clock.Add(time.Duration(m.random.IntN(3000)) * time.Millisecond)
	var msg *wire.Message
	switch n := m.random.IntN(100); {
	case n < 45 || len(m.open) < 50:
		msg = m.placed()
	case n < 80:
		msg = m.paid(&m.open[m.random.IntN(len(m.open))])
	case n < 97:
		msg = m.shipped(m.open[m.random.IntN(len(m.open))])
	default:
		i := m.random.IntN(len(m.open))
		msg = &wire.Message{Topic: topic, Partition: partitionOf(m.open[i].id), Key: []byte(m.open[i].id), Time: m.clock}
		m.open = append(m.open[:i], m.open[i+1:]...)
		m.out = append(m.out, entry{msg, tombstone})
		return
	}
	m.out = append(m.out, entry{msg, original})
	if m.random.IntN(100) < 5 {
		m.out = append(m.out, entry{again(msg), resent})
	}
}

func (m *maker) placed() *wire.Message {
	m.orders++
	o := order{id: m.uuid(), payable: 1 + m.random.IntN(3)}
	m.open = append(m.open, o)
	var items []string
	for range 1 + m.random.IntN(3) {
		items = append(items, fmt.Sprintf(`{"sku":"SKU-%05d","quantity":%d,"price":%s}`, m.random.IntN(20000), 1+m.random.IntN(5), m.money()))
	}
	note := "null"
	if m.random.IntN(4) == 0 {
		note = fmt.Sprintf(`"leave at door %d"`, m.random.IntN(90))
	}
	return m.record(o.id, "order.placed", fmt.Sprintf(
		`{"order_id":"%s","customer_id":"C-%06d","channel":"%s","total":%s,"placed_at":"%s","note":%s,"items":[%s]}`,
		o.id, m.random.IntN(90000), []string{"web", "app", "phone"}[m.random.IntN(3)], m.money(), m.clock.Format(time.RFC3339Nano), note, strings.Join(items, ",")))
}

func (m *maker) paid(o *order) *wire.Message {
	return m.record(o.id, "order.paid", fmt.Sprintf(`{"payment_id":"%s","order_id":"%s","amount":"%s","booked_at":"%s"}`,
		m.uuid(), o.id, m.money(), m.clock.Format(time.RFC3339Nano)))
}

func (m *maker) shipped(o order) *wire.Message {
	return m.record(o.id, "order.shipped", fmt.Sprintf(`{"carrier":"%s"}`, []string{"DHL", "UPS", "DPD"}[m.random.IntN(3)]))
}

func (m *maker) record(orderID, event, value string) *wire.Message {
	return &wire.Message{
		Topic: topic, Partition: partitionOf(orderID), Key: []byte(orderID), Value: []byte(value), Time: m.clock,
		Headers: []wire.Header{{Name: "event-type", Value: []byte(event)}, {Name: "Idempotency-Key", Value: []byte(m.uuid())}},
	}
}

// broken is a record that must become a dead letter, a different mistake for each i.
func (m *maker) broken(i int) entry {
	values := []string{
		``, `{`, `[]`, `{"carrier":7}`, `{"carrier":null}`, `{}`, `{"carrier":"a","carrier":"b"}`,
		"{\"carrier\":\"\xff\"}", `{"carrier":"x"} trailing`, `{"carrier":"\u0000"}`,
	}
	return entry{m.record(m.open[i].id, "order.shipped", values[i%len(values)]), broken}
}

// again is the same record, for another offset.
func again(m *wire.Message) *wire.Message {
	c := *m
	return &c
}

// changed is a record with the same key and another total.
func changed(m *wire.Message) *wire.Message {
	c := again(m)
	c.Value = []byte(strings.Replace(string(m.Value), `"customer_id":"C-`, `"customer_id":"X-`, 1))
	return c
}

// partitionOf sends all records of an order to one partition.
func partitionOf(orderID string) int32 {
	sum := 0
	for _, c := range orderID {
		sum += int(c)
	}
	return int32(sum % partitions)
}

func (m *maker) uuid() string {
	a, b := m.random.Uint64(), m.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

func (m *maker) money() string { return fmt.Sprintf("%d.%02d", m.random.IntN(500), m.random.IntN(100)) }
