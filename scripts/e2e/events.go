package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// book is what was written into an outbox, in the order of the transactions.
type book struct {
	kind   string // the aggregate type, which names the topic
	events []outbox.Event
}

// next makes n events of several aggregates. Ids tell events apart, and say which came first.
func (b *book) next(n int) (made []outbox.Event) {
	for range n {
		i := len(b.events)
		e := outbox.Event{
			ID:            [16]byte{1, 6: 0x40, 8: 0x80, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)},
			AggregateType: b.kind, AggregateID: fmt.Sprintf("a-%d", i%10), Type: "Counted", Payload: outbox.JSON(i),
		}
		b.events = append(b.events, e)
		made = append(made, e)
	}
	return made
}

// write writes n events in one transaction.
func (b *book) write(ctx context.Context, d *database, n int) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return outbox.Write(ctx, tx, b.next(n)...) })
}

func (b *book) topic() string { return "outbox.event." + b.kind }

// idOf is an event's id as a header has it.
func idOf(e outbox.Event) string {
	text := hex.EncodeToString(e.ID[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// whole reports whether records hold each event of the book.
func (b *book) whole(records []*kafka.Message) bool {
	found := map[string]bool{}
	for _, m := range records {
		found[header(m, "id")] = true
	}
	return !slices.ContainsFunc(b.events, func(e outbox.Event) bool { return !found[idOf(e)] })
}

// compare holds records against the book: each event is there, most times at most, and those of an
// aggregate came in their order. again is how many came more than once.
func (b *book) compare(records []*kafka.Message, most int) (again int, err error) {
	times, first := map[string]int{}, map[string][]string{}
	for _, m := range records {
		id := header(m, "id")
		if times[id]++; times[id] == 1 {
			first[string(m.Key)] = append(first[string(m.Key)], id)
		}
	}
	want := map[string][]string{}
	var errs []error
	for _, e := range b.events {
		id := idOf(e)
		want[e.AggregateID] = append(want[e.AggregateID], id)
		switch n := times[id]; {
		case n == 0:
			errs = append(errs, fmt.Errorf("event %s is lost", id))
		case n > most:
			errs = append(errs, fmt.Errorf("event %s came %d times, more than %d", id, n, most))
		case n > 1:
			again++
		}
	}
	for key, ids := range want {
		if len(errs) == 0 && !slices.Equal(ids, first[key]) {
			errs = append(errs, fmt.Errorf("events of %s came in another order", key))
		}
	}
	if n := len(times); len(errs) == 0 && n > len(b.events) {
		errs = append(errs, fmt.Errorf("%d ids in the topic, %d were written", n, len(b.events)))
	}
	if len(errs) > 3 {
		errs = append(errs[:3], fmt.Errorf("and %d more", len(errs)-3))
	}
	return again, errors.Join(errs...)
}

// arrived waits until the topic holds all events, and compares it with the book.
func (b *book) arrived(ctx context.Context, k *kit, most int) (again int, err error) {
	records, err := k.readWhen(ctx, b.topic(), b.whole)
	if err != nil && records == nil {
		return 0, err
	}
	return b.compare(records, most)
}
