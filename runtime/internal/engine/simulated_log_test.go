package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// posting is a record of a simulation: it adds an amount to an account, and an entry for itself.
type posting struct {
	partition, account, amount int32
	offset                     int64
	key                        string // as of records; "" if it has none
	verb                       string // row; ask, queue and flaky call a handler; refuse calls one that fails; garbage
}

// bad reports whether the record must become a dead letter, whatever came before it.
func (p *posting) bad() bool { return p.amount >= 1000 || p.verb == "refuse" || p.verb == "garbage" }

// group names the records that are copies of one another.
func (p *posting) group() string {
	switch {
	case p.key == "":
		return fmt.Sprintf("%d/%d", p.partition, p.offset)
	case p.key[0] == '@':
		return fmt.Sprintf("%d %s", p.partition, p.key)
	}
	return p.key
}

func (p *posting) message() idem.Message {
	text := fmt.Sprintf("%s %d %d", p.verb, p.account, p.amount)
	if p.key != "" {
		text = p.key + ": " + text
	}
	m := rig.Records(p.offset, text)[0]
	m.Partition = p.partition
	return m
}

// draw draws the log of two partitions. With keys, all records have one.
func draw(random *rand.Rand, name string, keyed bool) (log [2][]posting) {
	verbs := [][]string{{"row"}, {"ask", "queue"}, {"row", "ask", "queue", "flaky"}}[random.IntN(3)]
	marks := [][]string{{"@"}, {""}, {"@", ""}}[random.IntN(3)]
	pick := func(of []string) string { return of[random.IntN(len(of))] }
	for i := range log {
		for o := range 3 + random.IntN(6) {
			p := posting{partition: int32(i), offset: int64(o), verb: pick(verbs)}
			event := random.Int32N(6)
			p.account, p.amount = event%3, 1+event
			mark := pick(marks)
			p.key = fmt.Sprintf("%s%s-%d%s", mark, name, event, mark)
			switch random.IntN(16) {
			case 0:
				p.amount += 100 // a conflict, unless it comes first
			case 1:
				p.amount += 1000
			case 2:
				p.verb, p.amount = "refuse", p.amount+200
			case 3:
				p.verb, p.key = "garbage", ""
			case 4, 5:
				if !keyed {
					p.key = ""
				}
			}
			log[i] = append(log[i], p)
		}
	}
	return log
}

// handlers is what handlers know of a schedule.
type handlers struct {
	name  string          // of the schedule: texts are new in each, because what happens depends on that
	flaky map[string]bool // calls that have failed once
}

// postings is the plan for them.
type postings struct {
	*handlers
	key  wire.KeyBuilder
	rows wire.Rows
}

const (
	postSQL = `
WITH e AS (SELECT unnest($1::integer[]) AS partition, unnest($2::bigint[]) AS offs, unnest($3::integer[]) AS account, unnest($4::integer[]) AS amount),
entries AS (INSERT INTO entry (partition, offs, account, amount) SELECT * FROM e)
INSERT INTO account (partition, id, sum) SELECT partition, account, sum(amount) FROM e GROUP BY partition, account
ON CONFLICT (partition, id) DO UPDATE SET sum = account.sum + excluded.sum`
	addPostingSQL = `INSERT INTO account (partition, id, sum) VALUES ($1, $2, $3) ON CONFLICT (partition, id) DO UPDATE SET sum = account.sum + excluded.sum`
	entrySQL      = `INSERT INTO entry (partition, offs, account, amount) VALUES ($1, $2, $3, $4)`
)

func (p *postings) Add(b *wire.Batch, m *wire.Message) error {
	is := posting{partition: m.Partition, offset: m.Offset}
	if _, err := fmt.Sscan(string(m.Value), &is.verb, &is.account, &is.amount); err != nil || is.verb == "garbage" {
		return &wire.DecodeError{Event: "Test", Path: "verb", Reason: "is not known"}
	}
	if len(m.Headers) > 0 {
		p.key.Start("0123456789abcdef")
		p.key.Header(m, m.Headers[0].Name)
		key, err := p.key.Sum("Test")
		if err != nil {
			return err
		}
		if fresh, err := b.Claim("Test", key, 0, uint32(is.account)<<16|uint32(is.amount), m.Headers[0].Name == "here"); !fresh {
			return err
		}
	}
	if is.verb != "row" {
		b.Call(m, wire.Call{Event: "Test", Fn: func(ctx context.Context, tx idem.Tx) error { return p.handle(ctx, tx, &is) }})
		return nil
	}
	b.Puts(wire.Row("account").Int(int64(is.partition)).Int(int64(is.account)))
	r := p.rows.Row()
	r.Int4(is.partition)
	r.Int8(is.offset)
	r.Int4(is.account)
	r.Int4(is.amount)
	return nil
}

func (p *postings) Flush(b *wire.Batch) { b.Write(postSQL, &p.rows) }

// handle is the handler. Some of its calls wait for an answer, others queue all they write.
func (p *postings) handle(ctx context.Context, tx idem.Tx, is *posting) error {
	switch place := fmt.Sprint(is.partition, is.offset); {
	case is.verb == "refuse":
		return idem.Permanent(errors.New("refused"))
	case is.verb == "flaky" && !p.flaky[place]:
		p.flaky[place] = true
		return errors.New("not now")
	case is.verb == "queue":
		tx.Queue(addPostingSQL+p.name, is.partition, is.account, is.amount)
	default:
		if _, err := tx.Exec(ctx, addPostingSQL+p.name, is.partition, is.account, is.amount); err != nil {
			return err
		}
	}
	tx.Queue(entrySQL+p.name, is.partition, is.offset, is.account, is.amount)
	return nil
}

// audit compares what the database holds in the end with the log, and returns what is wrong.
// Which of two copies in two partitions is first is not known, but one of them is; what comes
// behind it in the same partition is not.
func audit(t testing.TB, db *pgxpool.Pool, log [2][]posting, rewound bool) (wrong []string) {
	t.Helper()
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	applied, dead := map[string]int{}, map[string]int{}
	sums := map[string]int32{}
	var place, account string
	var amount, sum int32
	each(t, db, []any{&place, &account, &amount}, func() {
		applied[place]++
		sums[account] += amount
	}, `SELECT partition || '/' || offs, partition || '/' || account, amount FROM entry`)
	each(t, db, []any{&place}, func() { dead[place]++ },
		`SELECT s.partition || '/' || d.offs FROM idem_dead_letter d JOIN idem_stream s USING (stream)`)
	each(t, db, []any{&account, &sum}, func() {
		if sum != sums[account] {
			complain("account %s has %d, its entries %d", account, sum, sums[account])
		}
		delete(sums, account)
	}, `SELECT partition || '/' || id, sum FROM account`)
	for account := range sums {
		complain("account %s is missing", account)
	}

	first := map[string]*posting{} // by group: the one that took effect
	for i := range log {
		candidate := map[string]bool{}
		for o := range log[i] {
			p := &log[i][o]
			n := applied[fmt.Sprintf("%d/%d", i, o)]
			delete(applied, fmt.Sprintf("%d/%d", i, o))
			if n > 1 || n == 1 && (p.bad() || candidate[p.group()] || first[p.group()] != nil) {
				complain("%d/%d (%v) took effect, %d times", i, o, *p, n)
			}
			if n > 0 {
				first[p.group()] = p
			}
			candidate[p.group()] = candidate[p.group()] || !p.bad()
		}
	}
	for place := range applied {
		complain("%s is not in the log", place)
	}
	for i := range log {
		for o := range log[i] {
			p := &log[i][o]
			winner := first[p.group()]
			if winner == nil && !p.bad() {
				complain("no copy of %d/%d (%v) took effect", i, o, *p)
				continue
			}
			conflicts := winner != nil && (winner.account != p.account || winner.amount != p.amount)
			n := dead[fmt.Sprintf("%d/%d", i, o)]
			if want := p.bad() || conflicts; want != (n > 0) || n > 1 && !rewound {
				complain("%d/%d (%v) has %d dead letters", i, o, *p, n)
			}
		}
	}
	const chain = `
SELECT s.partition || ' ' || string_agg(l.seq || l.kind::text || l.prev || '-' || l.next, ' ' ORDER BY l.seq),
  bool_and(l.seq = l.at AND (l.prev = l.before OR l.seq = 0)) AND (array_agg(l.next ORDER BY l.seq DESC))[1] = ($1::bigint[])[s.partition + 1]
FROM (SELECT *, row_number() OVER w - 1 AS at, lag(next) OVER w AS before FROM idem_ledger WINDOW w AS (PARTITION BY stream ORDER BY seq)) AS l
JOIN idem_stream s USING (stream) GROUP BY s.stream, s.partition`
	var whole bool
	chains := 0
	each(t, db, []any{&place, &whole}, func() {
		chains++
		if !whole {
			complain("chain of partition %s", place)
		}
	}, chain, []int64{int64(len(log[0])), int64(len(log[1]))})
	if chains != len(log) {
		complain("%d chains", chains)
	}
	return wrong
}

// each reads rows.
func each(t testing.TB, db *pgxpool.Pool, into []any, do func(), sql string, args ...any) {
	t.Helper()
	rows, err := db.Query(t.Context(), sql, args...)
	if err == nil {
		_, err = pgx.ForEachRow(rows, into, func() error { do(); return nil })
	}
	if err != nil {
		t.Fatalf("%v: %s", err, strings.TrimSpace(sql))
	}
}
