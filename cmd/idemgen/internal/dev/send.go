package dev

import (
	"context"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// copyEvery is which of the records is sent twice.
const copyEvery = 3

// send sends the records of the generated tests, one after the other, some of them twice.
func (r *run) send(ctx context.Context) {
	if r.place.broker == nil {
		r.say("the brokers are yours: nothing is sent to them")
		return
	}
	select {
	case <-r.started:
	case <-ctx.Done():
		return
	}
	sent := 0
	for _, t := range r.Topics {
		log, err := idemtest.ReadLog(t.Log)
		if err != nil {
			r.say("%v: nothing is sent to %s", err, t.Names[0])
			continue
		}
		for _, record := range log {
			m := record.Message
			m.Topic, m.Partition = t.Names[0], idemtest.ByKey
			if m.Time.IsZero() {
				m.Time = time.Now()
			}
			what := record.Name
			for range 1 + sent%copyEvery/(copyEvery-1) {
				again := m
				if !pause(ctx, r.Pause) {
					return
				}
				if err := r.place.broker.Produce(ctx, &again); err != nil {
					r.say("nothing more is sent: %v", err)
					return
				}
				r.say("sent %s", placed(&again, what))
				what = record.Name + ", again"
			}
			sent++
		}
	}
	r.say("all %d records of the tests were sent; send your own to %s", sent, r.place.brokers)
}

func placed(m *wire.Message, event string) string {
	return fmt.Sprintf("%s: topic=%s partition=%d offset=%d", event, m.Topic, m.Partition, m.Offset)
}
