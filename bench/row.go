package main

import (
	"context"
	"fmt"
)

// row is one line of the output.
type row struct {
	id, name string
	goal     goal
	runs     []string // the contenders that it needs
	figure   func(context.Context, *results) (figure, error)
	chart    *bar // how the chart shows it; nil if it does not
}

// goal is what a figure should be. Without a bound it only says which of two figures is better.
type goal struct {
	sign  string // ">=" or "<="
	bound float64
}

func atLeast(bound float64) goal { return goal{">=", bound} }
func atMost(bound float64) goal  { return goal{"<=", bound} }

// The goals of rows that have none.
var (
	moreIsBetter = atLeast(0)
	lessIsBetter = atMost(0)
)

func (g goal) met(value float64) bool {
	if g.sign == ">=" {
		return value >= g.bound
	}
	return value <= g.bound
}

// verdict is "goal>=0.75 met" or "goal>=0.75 below", and empty without a goal. A ratio of speeds
// that meets the goal by the clock and not by CPU time, or the other way round, is "unclear".
func (g goal) verdict(f figure) string {
	if g.bound == 0 {
		return ""
	}
	word := "below"
	if met := g.met(f.value); f.cpu != 0 && g.met(f.cpu) != met {
		word = "unclear"
	} else if met {
		word = "met"
	}
	return fmt.Sprintf("goal%s%g %s ", g.sign, g.bound, word)
}

// line is how a row is printed, such as "P1b header keys/by hand 0.70 goal>=0.75 below
// (0.66 to 0.72; 0.71 by CPU time) CPU seconds per 100,000 records: process 0.61/0.40, Postgres
// 0.72/0.55".
func (r row) line(f figure) string {
	by, costs := "", ""
	if f.cpu != 0 {
		by = fmt.Sprintf("; %.2f by CPU time", f.cpu)
		costs = fmt.Sprintf(" CPU seconds per 100,000 records: process %s, Postgres %s",
			sides(f.ours.Process, f.theirs.Process), sides(f.ours.Postgres, f.theirs.Postgres))
	}
	return fmt.Sprintf("%s %s %.2f %s(%.2f to %.2f%s)%s", r.id, r.name, f.value, r.goal.verdict(f), f.least, f.most, by, costs)
}

// sides are CPU times of ours beside those of theirs; empty if none were measured.
func sides(ours, theirs float64) string {
	if ours == 0 && theirs == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f/%.2f", ours, theirs)
}

// rows are all that can be measured, in the order in which they are printed.
var rows = []row{
	speed("P1", "offset keys/no ledger", "offset", "no-ledger", atLeast(0.95)),
	speed("P1a", "offset keys/by hand", "offset", "unchecked", atLeast(1.15)).drawn("rows of a spec, the key is the offset", unchecked),
	speed("P1e", "offset keys with franz/by hand", "franz", "unchecked", atLeast(1.25)).drawn("the same, runtime/franz", unchecked),
	speed("P1d", "header keys same_partition/by hand", "same-partition", "unchecked", atLeast(1.05)).drawn("copies: same_partition", unchecked),
	speed("P1b", "header keys/by hand", "header", "unchecked", atLeast(0.75)).drawn("copies: anywhere", unchecked),
	speed("P1c", "header keys/by hand with keys", "header", "checked", atLeast(1.2)).drawn("copies: anywhere", checked),
	speed("P1f", "header keys same_partition with franz/by hand", "franz-same-partition", "unchecked", atLeast(1.1)),
	speed("P1g", "header keys with franz/by hand", "franz-header", "unchecked", atLeast(0.75)),
	speed("P1h", "header keys with franz/by hand with keys", "franz-header", "checked", atLeast(1.35)),
	speed("P1au", "payments, offset keys/by hand", "payments-offset", "payments-unchecked", atLeast(1.15)),
	speed("P1eu", "payments, offset keys with franz/by hand", "payments-franz", "payments-unchecked", atLeast(1.25)),
	speed("P1du", "payments, header keys same_partition/by hand", "payments-same-partition", "payments-unchecked", atLeast(1.05)),
	speed("P1bu", "payments, header keys/by hand", "payments-header", "payments-unchecked", atLeast(0.75)),
	speed("P1cu", "payments, header keys/by hand with keys", "payments-header", "payments-checked", atLeast(1.2)),
	speed("P1fu", "payments, header keys same_partition with franz/by hand", "payments-franz-same-partition", "payments-unchecked", atLeast(1.1)),
	speed("P1gu", "payments, header keys with franz/by hand", "payments-franz-header", "payments-unchecked", atLeast(0.75)),
	speed("P1hu", "payments, header keys with franz/by hand with keys", "payments-franz-header", "payments-checked", atLeast(1.35)),
	speed("P2", "offset keys, franz/confluent", "franz", "offset", moreIsBetter),
	decoder("orders", "borrowed"), decoder("orders", "owned"), decoder("telemetry", "borrowed"), decoder("telemetry", "owned"),
	{
		id: "P8", name: "generator, 50 topics of 10 events, seconds", goal: atMost(0.3),
		figure: func(_ context.Context, r *results) (figure, error) { return r.generator(wideSeconds) },
	},
	{
		id: "P8", name: "generator, 500 events/50 events, times as long", goal: atMost(10),
		figure: func(_ context.Context, r *results) (figure, error) { return r.generator(eventsGrowth) },
	},
	{
		id: "P9", name: "kill -9 to the next owner's commits, less the session, ms", goal: atMost(300),
		figure: func(ctx context.Context, r *results) (figure, error) {
			late, err := failover(ctx, r.rounds)
			if err != nil {
				return figure{}, err
			}
			return middle(late), nil
		},
	},
	memory("P10", "offset keys, peak MiB", "offset"),
	memory("P10a", "offset keys with franz, peak MiB", "franz"),
	memory("P10b", "header keys, peak MiB", "header"),
	{
		id: "P10c", name: "header keys for long, peak MiB", goal: atMost(64),
		figure: func(ctx context.Context, r *results) (figure, error) { return r.endurance(ctx, enduredMemory) },
	},
	{
		id: "P10c", name: "header keys for long, goroutines", goal: atMost(mostGoroutines),
		figure: func(ctx context.Context, r *results) (figure, error) { return r.endurance(ctx, enduredGoroutines) },
	},
	speed("P12a", "handler/loop by hand", "handler", "loop", atLeast(0.9)).drawn("handlers that wait for answers", unchecked),
	speed("P12b", "handler/loop by hand with keys", "handler", "loop-checked", atLeast(1)).drawn("handlers that wait for answers", checked),
	speed("P12c", "handler/statements queued by hand", "handler", "loop-queued", moreIsBetter),
	speed("P12d", "handler that queues/statements queued by hand", "handler-queued", "loop-queued", atLeast(0.9)).drawn("handlers that queue", unchecked),
	speed("P12e", "handler that queues/statements queued by hand with keys", "handler-queued", "loop-checked-queued", atLeast(1)).drawn("handlers that queue", checked),
	speed("P12du", "payments, handler that queues/statements queued by hand", "payments-handler-queued", "payments-loop-queued", atLeast(0.9)),
	speed("P12eu", "payments, handler that queues/statements queued by hand with keys", "payments-handler-queued", "payments-loop-checked-queued", atLeast(1)),
	speed("P12fu", "payments, handler that queues, offset keys/statements queued by hand", "payments-handler-offset", "payments-loop-queued", atLeast(0.9)),
	speed("P12g", "handler that queues with franz/statements queued by hand", "franz-handler-queued", "loop-queued", atLeast(0.9)),
	speed("P12h", "handler that queues with franz/statements queued by hand with keys", "franz-handler-queued", "loop-checked-queued", atLeast(1)),
	speed("P12gu", "payments, handler that queues with franz/statements queued by hand", "payments-franz-handler-queued", "payments-loop-queued", atLeast(0.9)),
	speed("P12hu", "payments, handler that queues with franz/statements queued by hand with keys", "payments-franz-handler-queued", "payments-loop-checked-queued", atLeast(1)),
	speed("P12i", "handler with franz/loop by hand", "franz-handler", "loop", atLeast(0.9)),
	speed("P12j", "handler with franz/loop by hand with keys", "franz-handler", "loop-checked", atLeast(1)),
	speed("P13a", "add on hot rows/by hand", "hot", "adds", atLeast(1)),
	speed("P13b", "add on hot rows/by hand with keys", "hot", "adds-checked", atLeast(1)).drawn("add on 10 hot rows", checked),
	speed("P13c", "add on hot rows/sums by hand", "hot", "adds-summed", moreIsBetter),
	speed("P14", "effects, leases in Postgres/two round trips by hand", "effect", "notices", atLeast(1)).drawn("effects, leases in Postgres", "two round trips by hand"),
	speed("P14b", "effects, leases in Redis/two round trips by hand", "effect-redis", "notices-redis", atLeast(0.5)).drawn("effects, leases in Redis", "two round trips by hand"),
	speed("P14c", "effects, leases in Redis/in Postgres", "effect-redis", "effect", moreIsBetter),
	relayed("P15", "outbox, relay/loop by hand with SKIP LOCKED", atLeast(1), outboxSpeed).drawn("outbox.Relay", "SKIP LOCKED by hand"),
	relayed("P15b", "outbox, milliseconds from commit to topic, median", lessIsBetter, outboxMedian),
	relayed("P15c", "outbox, milliseconds from commit to topic, 99th percentile", lessIsBetter, outboxTail),
	grown("P16", "processes of one group", 2, sharing), grown("P16", "processes of one group", 3, sharing), grown("P16", "processes of one group", 4, sharing),
	grown("P17", "consumers in one database", 4, crowding), grown("P17", "consumers in one database", 16, crowding),
}

// speed compares how many records per second two contenders consume, and how much CPU time that
// takes them and the database.
func speed(id, name, ours, theirs string, g goal) row {
	return row{id: id, name: name, goal: g, runs: []string{ours, theirs}, figure: func(_ context.Context, r *results) (figure, error) {
		return beside(r.runs[ours], r.runs[theirs]), nil
	}}
}

// relayed is a row of the outbox.
func relayed(id, name string, g goal, of func(*sent) figure) row {
	return row{id: id, name: name, goal: g, figure: func(ctx context.Context, r *results) (figure, error) {
		if r.sent == nil {
			s, err := sending(ctx, r.rounds)
			if err != nil {
				return figure{}, err
			}
			r.sent = s
		}
		return of(r.sent), nil
	}}
}

// grown compares n processes or consumers with one.
func grown(id, name string, n int, measure func(ctx context.Context, rounds, records int) (scaled, error)) row {
	return row{id: id, name: fmt.Sprintf("%d %s/one", n, name), goal: moreIsBetter, figure: func(ctx context.Context, r *results) (figure, error) {
		if r.scaled[name] == nil {
			s, err := measure(ctx, r.rounds, r.readings)
			if err != nil {
				return figure{}, err
			}
			r.scaled[name] = s
		}
		return r.scaled[name].beside(n), nil
	}}
}

// memory is the most resident memory that a run had.
func memory(id, name, contender string) row {
	return row{id: id, name: name, goal: atMost(64), runs: []string{contender}, figure: func(_ context.Context, r *results) (figure, error) {
		return largest(each(r.runs[contender], func(m measurement) float64 { return m.PeakMiB })), nil
	}}
}

// decoder compares an example's generated decoder with encoding/json: borrowed is how a batch
// decodes, with nothing allocated, and owned how a handler gets its event.
func decoder(example, style string) row {
	return row{id: "P7", name: "decoder/encoding-json, " + example + " " + style, goal: atLeast(5), figure: func(ctx context.Context, r *results) (figure, error) {
		return r.decoder(ctx, example, style)
	}}
}
