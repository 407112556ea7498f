package idemtest

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
)

// oneByOne applies each record alone, at the place that where says, and returns what is left.
func (c *runner) oneByOne(t testing.TB, log []record, where func(record) idem.Message) *state {
	t.Helper()
	b := c.newTrial(t)
	owners := b.owners()
	for _, r := range log {
		owners.deliver([]idem.Message{where(r)})
	}
	got := b.dump()
	got.dead = map[int]expectedDead{}
	for at, l := range b.deadLetters() {
		for _, r := range log {
			if placeOf(where(r)) == at {
				got.dead[r.index] = expectedDead{class: l.class}
			}
		}
	}
	return got
}

// inOrder expects what the records of the log leave if they are applied in another order. That is
// something else where events of several record keys write one row.
func (b *trial) inOrder(order []record) {
	b.t.Helper()
	if err := b.normalize(b.t.Context(), b.db); err != nil {
		b.t.Fatalf("idemtest: %v", err)
	}
	if b.rowDiff(b.want, b.dump()) == "" && b.deadLetterDiff() == "" {
		return
	}
	at, next := map[int]int64{}, map[string]int64{}
	for _, r := range order {
		at[r.index] = next[r.message.Topic]
		next[r.message.Topic]++
	}
	b.want, b.source, b.moved = b.oneByOne(b.t, order, func(r record) idem.Message {
		m := r.message
		m.Offset = at[r.index]
		return m
	}), "the same log applied one by one, in the order of the replay,", true
}

// last returns a log in which the records that come last follow all others.
func last(log []record, comesLast func(record) bool) (order []record) {
	for _, r := range log {
		if !comesLast(r) {
			order = append(order, r)
		}
	}
	for _, r := range log {
		if comesLast(r) {
			order = append(order, r)
		}
	}
	return order
}
