package dev

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// copyEvery is which of the records is sent twice.
const copyEvery = 3

// send sends the records of the cases, after the rows that each needs, and of the generated tests,
// one after the other, some of them twice.
func (r *run) send(ctx context.Context) {
	if r.place.broker == nil {
		r.say("the brokers are yours: send your records to %s", r.place.brokers)
		return
	}
	sent, twice := 0, 0
	var last *Record
	for _, sample := range r.parts.Samples {
		if err := r.place.execute(ctx, sample.Rows); err != nil {
			if ctx.Err() == nil {
				r.say("%s is left out: its rows: %v", sample.Name, err)
			}
			continue
		}
		r.say("%s", sample.Name)
		for _, record := range sample.Records {
			times := 1
			if sent++; sent%copyEvery == 0 {
				times = 2
				twice++
			}
			if !r.sendOne(ctx, record, times) {
				return
			}
			last = &record
		}
	}
	r.say("all %d records of the tests were sent, %d of them twice", sent, twice)
	r.place.verdict(ctx, r.say, int64(sent+twice))
	if last != nil {
		r.say("send your own: %s", asCommand(r.place.brokers, last))
	}
}

// verdictSQL is how many records of the log were passed, and how many dead letters there are.
const verdictSQL = `SELECT coalesce(sum(next), 0)::bigint, (SELECT count(*) FROM idem_dead_letter)
FROM (SELECT DISTINCT ON (stream) next FROM idem_ledger ORDER BY stream, seq DESC) AS last`

// verdict says what became of the records that are in the log, once all are passed or nothing
// has happened for a while. A database without a ledger says nothing.
func (p *place) verdict(ctx context.Context, say func(string, ...any), records int64) {
	conn, err := pgx.Connect(ctx, p.database)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	passed, dead := int64(-1), int64(0)
	for end := time.Now().Add(settling); passed < records; {
		before := passed
		if conn.QueryRow(ctx, verdictSQL).Scan(&passed, &dead) != nil {
			return
		}
		if passed > before {
			end = time.Now().Add(settling)
		}
		if time.Now().After(end) || !pause(ctx, 100*time.Millisecond) {
			break
		}
	}
	text := fmt.Sprintf("%d of %d records in the log are passed, %d as dead letters", passed, records, dead)
	if passed < records {
		text += "; /readyz says what the others wait for"
	}
	say("%s", text)
}

// settling is how long nothing may happen until what did is told.
const settling = 2 * time.Second

// asCommand is how a record is sent in a shell.
func asCommand(brokers string, record *Record) string {
	m := record.Message
	quoted := func(b []byte) string { return "'" + strings.ReplaceAll(string(b), "'", `'\''`) + "'" }
	text := fmt.Sprintf("printf '%%s' %s | kcat -P -b %s -t %s", quoted(m.Value), brokers, m.Topic)
	if m.Key != nil {
		text += " -k " + quoted(m.Key)
	}
	for _, h := range m.Headers {
		text += " -H " + quoted(append([]byte(h.Name+"="), h.Value...))
	}
	return text
}

// sendOne sends a record so often. It reports false if nothing more can be sent.
func (r *run) sendOne(ctx context.Context, record Record, times int) bool {
	what := cmp.Or(record.Event, "a record of no event")
	for i := range times {
		m := record.Message
		m.Partition = idemtest.ByKey
		if m.Time.IsZero() {
			m.Time = time.Now()
		}
		if !pause(ctx, r.Pause) {
			return false
		}
		if err := r.place.broker.Produce(ctx, &m); err != nil {
			r.say("nothing more is sent: %v", err)
			return false
		}
		r.say("sent %s: topic=%s partition=%d offset=%d", what, m.Topic, m.Partition, m.Offset)
		if i == 0 {
			what += fmt.Sprintf(", again (a copy of offset %d)", m.Offset)
		}
	}
	return true
}
