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

// copyEvery is which of the records that may be sent again are sent again.
const copyEvery = 3

// samples are the cases and records that dev plays.
func (r *run) samples() []Sample {
	if r.Pause == 0 || r.place.postgres == nil {
		return nil
	}
	return r.parts.Samples
}

// play runs the service, and plays the samples, if it shall: the records of the cases and of the
// generated tests, each sample from an empty database on. Then the service runs until ctx ends.
func (r *run) play(ctx context.Context, binary string, send bool) {
	s := r.start(ctx, binary)
	defer func() { s.end() }()
	samples := r.samples()
	if r.place.postgres == nil && send && r.Pause > 0 && r.ready(s.running) {
		r.say("the brokers are yours: send your records to %s", r.place.brokers)
	}
	if !send {
		samples = nil
	}
	sent, twice, complete := 0, 0, true
	var last *Record
	for i, sample := range samples {
		if i > 0 {
			s.end()
			if err := r.fresh(ctx, i == len(samples)-1); err != nil {
				if complete = false; ctx.Err() == nil {
					r.say("nothing more is sent: %v", err)
				}
				break
			}
			s = r.start(ctx, binary)
		}
		if complete = r.ready(s.running); !complete {
			break
		}
		if err := r.place.execute(s.running, sample.Rows); err != nil {
			if s.running.Err() == nil {
				r.say("%s is left out: its rows: %v", sample.Name, err)
			}
			continue
		}
		var copies int
		if copies, complete = r.send(s.running, sample); !complete {
			break
		}
		if r.sendOutbox(s); i < len(samples)-1 {
			r.place.emptied(s.running)
		}
		sent, twice = sent+len(sample.Records), twice+copies
		if n := len(sample.Records); n > 0 {
			last = &sample.Records[n-1]
		}
	}
	if complete && len(samples) > 0 {
		r.say("all %d records of the tests were sent, %d of them twice", sent, twice)
	}
	if r.sendOutbox(s); complete && last != nil {
		r.say("send your own: %s", asCommand(r.place.brokers, last))
	}
	<-ctx.Done()
}

// send sends the records of a sample one after the other, and then some of them again. It says
// what became of them, and reports false if not all were sent.
func (r *run) send(ctx context.Context, sample Sample) (copies int, all bool) {
	r.say("%s", sample.Name)
	var again []*Record
	keyed := 0
	for i := range sample.Records {
		record := &sample.Records[i]
		m := &record.Message
		if m.Partition = idemtest.ByKey; sample.InOrder {
			m.Partition = 0
			r.place.settle(ctx, int64(i))
		}
		if m.Time.IsZero() {
			m.Time = time.Now()
		}
		if !r.sendOne(ctx, record, "") {
			return 0, false
		}
		if record.Again {
			if keyed++; keyed%copyEvery == 1 {
				again = append(again, record)
			}
		}
	}
	for _, record := range again {
		if !r.sendOne(ctx, record, fmt.Sprintf(", again (a copy of offset %d)", record.Message.Offset)) {
			return 0, false
		}
	}
	r.verdict(ctx, sample, int64(len(sample.Records)+len(again)))
	return len(again), ctx.Err() == nil
}

// passedSQL is how many records of the log were passed, and how many dead letters there are.
const passedSQL = `SELECT coalesce(sum(next), 0)::bigint, (SELECT count(*) FROM idem_dead_letter)
FROM (SELECT DISTINCT ON (stream) next FROM idem_ledger ORDER BY stream, seq DESC) AS last`

// settle waits until so many records are passed, or nothing has happened for a while. It reports
// false for a database without a ledger.
func (p *place) settle(ctx context.Context, records int64) (passed, dead int64, known bool) {
	conn, err := pgx.Connect(ctx, p.database)
	if err != nil {
		return 0, 0, false
	}
	defer conn.Close(context.WithoutCancel(ctx))
	passed = -1
	for end := time.Now().Add(settling); passed < records; {
		before := passed
		if conn.QueryRow(ctx, passedSQL).Scan(&passed, &dead) != nil {
			return 0, 0, false
		}
		if passed > before {
			end = time.Now().Add(settling)
		}
		if passed < records && (time.Now().After(end) || !pause(ctx, 20*time.Millisecond)) {
			break
		}
	}
	return passed, dead, true
}

// verdict says what became of the records that are in the log, and compares what is left.
func (r *run) verdict(ctx context.Context, sample Sample, records int64) {
	passed, dead, known := r.place.settle(ctx, records)
	if !known {
		return
	}
	text := fmt.Sprintf("%d of %d records in the log are passed, %d as dead letters", passed, records, dead)
	if passed < records {
		text += "; /readyz shows what the others wait for"
	}
	r.say("%s", text)
	if sample.Check != nil {
		r.compare(ctx, sample)
	}
}

// compare says how what is left differs from what must be there.
func (r *run) compare(ctx context.Context, sample Sample) {
	switch differences, err := sample.Check(ctx, r.place.database, r.relays()); {
	case ctx.Err() != nil:
	case err != nil:
		r.say("%s: its then was not compared: %v", sample.Name, err)
	case differences != "":
		r.say("%s differs from its then:\n  %s", sample.Name, strings.ReplaceAll(differences, "\n", "\n  "))
	default:
		r.say("%s matches its then", sample.Name)
	}
}

// emptied waits until the outbox, if there is one, holds no event, or for a while.
func (p *place) emptied(ctx context.Context) {
	conn, err := pgx.Connect(ctx, p.database)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	holds := true
	for end := time.Now().Add(settling); time.Now().Before(end) && holds; pause(ctx, 20*time.Millisecond) {
		if conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM idem_outbox)`).Scan(&holds) != nil {
			return
		}
	}
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

// sendOne sends a record. It reports false if nothing more can be sent.
func (r *run) sendOne(ctx context.Context, record *Record, again string) bool {
	m := &record.Message
	if !pause(ctx, r.Pause) {
		return false
	}
	if err := r.place.broker.Produce(ctx, m); err != nil {
		r.say("nothing more is sent: %v", err)
		return false
	}
	r.say("sent %s%s: topic=%s partition=%d offset=%d", cmp.Or(record.Event, "a record that is not an event of the spec"), again, m.Topic, m.Partition, m.Offset)
	return true
}
