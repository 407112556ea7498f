// Package shop makes up the event log of a shop, for programs that run the orders example:
// orders, payments, shipments and tombstones, with the retries of a producer. The same seed
// makes the same log. It must not import any package of this module but runtime/wire.
package shop

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Topic is where the events go.
const Topic = "orders.v1"

// Cause is why a record is in the log.
type Cause int

const (
	Original  Cause = iota
	Resent          // the producer sent it again at once: other offset, same key
	Old             // an old record, produced again much later
	Reused          // a known key with other content
	Broken          // does not decode, or does not fit its column
	Tombstone       // removes an order
)

// Entry is a record and why it is there.
type Entry struct {
	Message *wire.Message
	Cause   Cause
}

// Maker makes orders with the shape of a real shop's.
type Maker struct {
	// Recent is how many of the newest orders later events go to; 0 means all.
	Recent int

	random     *rand.Rand
	clock      time.Time
	partitions int32
	homes      map[string]int32 // partitions of orders, once there are more of them
	orders     int
	shipments  int
	open       []string // orders that exist
}

// New returns a maker that has made nothing.
func New(seed uint64, partitions int32) *Maker {
	return &Maker{random: rand.New(rand.NewPCG(seed, 11)), clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), partitions: partitions}
}

// Next makes one event, and sometimes the producer's retry of it.
func (m *Maker) Next() []Entry {
	m.clock = m.clock.Add(time.Duration(m.random.IntN(3000)) * time.Millisecond)
	var msg *wire.Message
	switch n := m.random.IntN(100); {
	case n < 45 || len(m.open) < 50:
		msg = m.Placed("")
	case n < 80:
		msg = m.Paid()
	case n < 97:
		msg = m.Shipped()
	default:
		return []Entry{{m.erased(m.pick()), Tombstone}}
	}
	if m.random.IntN(100) < 5 {
		return []Entry{{msg, Original}, {Again(msg), Resent}}
	}
	return []Entry{{msg, Original}}
}

// Shuffle brings entries into another order.
func (m *Maker) Shuffle(entries []Entry) {
	m.random.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
}

// pick chooses an order that exists.
func (m *Maker) pick() int {
	from := 0
	if m.Recent > 0 {
		from = max(0, len(m.open)-m.Recent)
	}
	return from + m.random.IntN(len(m.open)-from)
}

// Placed makes a new order. A note may make it as large as wanted; without one it has the
// usual ones.
func (m *Maker) Placed(note string) *wire.Message {
	m.orders++
	id := m.uuid()
	m.open = append(m.open, id)
	if m.homes != nil {
		m.homes[id] = m.hash(id)
	}
	var items []string
	for range 1 + m.random.IntN(3) {
		items = append(items, fmt.Sprintf(`{"sku":"SKU-%05d","quantity":%d,"price":%s}`, m.random.IntN(20000), 1+m.random.IntN(5), m.money()))
	}
	text := "null"
	switch {
	case note != "":
		text = fmt.Sprintf("%q", note)
	case m.random.IntN(4) == 0:
		text = fmt.Sprintf(`"leave at door %d"`, m.random.IntN(90))
	}
	return m.record(id, "order.placed", fmt.Sprintf(
		`{"order_id":"%s","customer_id":"C-%06d","channel":"%s","total":%s,"placed_at":"%s","note":%s,"items":[%s]}`,
		id, m.random.IntN(90000), []string{"web", "app", "phone"}[m.random.IntN(3)], m.money(), m.clock.Format(time.RFC3339Nano), text, strings.Join(items, ",")))
}

// Forget makes no more events of the newest order.
func (m *Maker) Forget() { m.open = m.open[:len(m.open)-1] }

// Paid makes a payment of an order that exists.
func (m *Maker) Paid() *wire.Message {
	id := m.open[m.pick()]
	return m.record(id, "order.paid", fmt.Sprintf(`{"payment_id":"%s","order_id":"%s","amount":"%s","booked_at":"%s"}`,
		m.uuid(), id, m.money(), m.clock.Format(time.RFC3339Nano)))
}

// Shipped makes a shipment of an order that exists. Each has a number of its own, so that
// the order's note tells which was the last.
func (m *Maker) Shipped() *wire.Message {
	m.shipments++
	return m.record(m.open[m.pick()], "order.shipped", fmt.Sprintf(`{"carrier":"%s %06d"}`, []string{"DHL", "UPS", "DPD"}[m.random.IntN(3)], m.shipments))
}

// erased removes an order; nothing follows it.
func (m *Maker) erased(i int) *wire.Message {
	id := m.open[i]
	m.open = append(m.open[:i], m.open[i+1:]...)
	return &wire.Message{Topic: Topic, Partition: m.partitionOf(id), Key: []byte(id), Time: m.clock}
}

func (m *Maker) record(orderID, event, value string) *wire.Message {
	return &wire.Message{
		Topic: Topic, Partition: m.partitionOf(orderID), Key: []byte(orderID), Value: []byte(value), Time: m.clock,
		Headers: []wire.Header{{Name: "event-type", Value: []byte(event)}, {Name: "Idempotency-Key", Value: []byte(m.uuid())}},
	}
}

// Broken is a record that must become a dead letter, a different mistake for each i.
func (m *Maker) Broken(i int) Entry {
	values := []string{
		``, `{`, `[]`, `{"carrier":7}`, `{"carrier":null}`, `{}`, `{"carrier":"a","carrier":"b"}`,
		"{\"carrier\":\"\xff\"}", `{"carrier":"x"} trailing`, `{"carrier":"\u0000"}`,
	}
	return Entry{m.record(m.open[i%len(m.open)], "order.shipped", values[i%len(values)]), Broken}
}

// Orphan ships an order that does not exist, which the database refuses.
func (m *Maker) Orphan() *wire.Message {
	return m.record(m.uuid(), "order.shipped", `{"carrier":"nobody"}`)
}

// Late ships an order that does not exist yet, and places it. Neither gets more events.
func (m *Maker) Late() (shipped, placed *wire.Message) {
	placed = m.Placed("")
	m.shipments++
	shipped = m.record(string(placed.Key), "order.shipped", fmt.Sprintf(`{"carrier":"late %06d"}`, m.shipments))
	m.Forget()
	return shipped, placed
}

// Grow makes new orders for more partitions. Those of before stay where they are.
func (m *Maker) Grow(partitions int32) {
	if m.homes == nil {
		m.homes = map[string]int32{}
	}
	for _, id := range m.open {
		m.homes[id] = m.partitionOf(id)
	}
	m.partitions = partitions
}

// Again is the same record, for another offset.
func Again(m *wire.Message) *wire.Message {
	c := *m
	return &c
}

// Changed is a placed order with the same key and another customer.
func Changed(m *wire.Message) *wire.Message {
	c := Again(m)
	c.Value = []byte(strings.Replace(string(m.Value), `"customer_id":"C-`, `"customer_id":"X-`, 1))
	return c
}

// partitionOf sends all records of an order to one partition.
func (m *Maker) partitionOf(orderID string) int32 {
	if home, known := m.homes[orderID]; known {
		return home
	}
	return m.hash(orderID)
}

func (m *Maker) hash(orderID string) int32 {
	sum := 0
	for _, c := range orderID {
		sum += int(c)
	}
	return int32(sum) % m.partitions
}

func (m *Maker) uuid() string {
	a, b := m.random.Uint64(), m.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

func (m *Maker) money() string { return fmt.Sprintf("%d.%02d", m.random.IntN(500), m.random.IntN(100)) }
