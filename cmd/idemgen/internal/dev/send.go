package dev

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

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
	sent := 0
	for _, s := range r.samples() {
		log, err := idemtest.ReadLog(s.log)
		if err == nil {
			err = r.place.executeFile(ctx, s.rows)
		}
		if err != nil {
			if ctx.Err() == nil {
				r.say("%s is left out: %v", s.name, err)
			}
			continue
		}
		r.say("%s", s.name)
		for _, record := range log {
			times := 1
			if sent++; sent%copyEvery == 0 {
				times = 2
			}
			if !r.sendOne(ctx, cmp.Or(record.Message.Topic, s.topic), record, times) {
				return
			}
		}
	}
	r.say("all %d records of the tests were sent; send your own to %s", sent, r.place.brokers)
}

// sample is records to send, and rows that are there before.
type sample struct{ name, topic, rows, log string }

// samples are the team's cases, whose records its handlers are made for, and then the logs of the
// generated tests.
func (r *run) samples() (all []sample) {
	logs, _ := filepath.Glob(r.data("cases/idem_*_log.jsonl")) // the pattern is well-formed
	for _, log := range logs {
		stem := strings.TrimSuffix(log, "_log.jsonl")
		all = append(all, sample{name: "case " + strings.TrimPrefix(filepath.Base(stem), "idem_"), rows: stem + "_rows.sql", log: log})
	}
	for _, t := range r.parts.Topics {
		all = append(all, sample{"records of the test of " + t.Names[0], t.Names[0], strings.TrimSuffix(t.Log, "_log.jsonl") + "_rows.sql", t.Log})
	}
	return all
}

// sendOne sends a record so often. It reports false if nothing more can be sent.
func (r *run) sendOne(ctx context.Context, topic string, record idemtest.Event, times int) bool {
	what := record.Name
	for i := range times {
		m := record.Message
		m.Topic, m.Partition = topic, idemtest.ByKey
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
