// Package outboxprom exports the metrics of an outbox relay to Prometheus:
//
//	prometheus.MustRegister(outboxprom.New(relay))
//
// docs/operations.md lists the metrics. It must not import any package of this module but outbox.
// A service without an outbox does not link it, and a service without a consumer does not link
// package idem.
package outboxprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// Relay is the source of the metrics, read at each scrape: an [outbox.Relay].
type Relay interface {
	Stats() outbox.Stats
	Health() error
}

func desc(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }

var (
	healthy = desc("idemgen_outbox_healthy", "1 while nothing holds events back, otherwise 0: Relay.Health returns the reason.")
	leading = desc("idemgen_outbox_leading", "1 for the relay that sends the events: one of all processes.")
	waiting = desc("idemgen_outbox_waiting_events", "Events in the table, counted up to MaxWaiting + 1. Every relay counts them. Absent while it cannot.")
	oldest  = desc("idemgen_outbox_oldest_seconds", "Age of the first event in the table. Absent while it is unknown.")
	held    = desc("idemgen_outbox_held_aggregates", "Aggregates that wait because the broker rejects their first event.")
	sent    = desc("idemgen_outbox_sent_total", "Events that the broker has acknowledged.")
	refused = desc("idemgen_outbox_refused_total", "Number of times that the broker rejected an event.")
)

// collector collects the numbers of a relay.
type collector struct{ Relay }

// New returns a collector of a relay's metrics. They have no labels: to register several relays in
// one process, add labels with [prometheus.WrapRegistererWith].
func New(r Relay) prometheus.Collector { return collector{r} }

// Describe implements [prometheus.Collector].
func (collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{healthy, leading, waiting, oldest, held, sent, refused} {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. It queries neither the broker nor the database.
func (c collector) Collect(to chan<- prometheus.Metric) {
	is := c.Stats()
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
		to <- prometheus.MustNewConstMetric(d, kind, v)
	}
	tell(healthy, prometheus.GaugeValue, one(c.Health() == nil))
	tell(leading, prometheus.GaugeValue, one(is.Leading))
	if is.Counted {
		tell(waiting, prometheus.GaugeValue, float64(is.Waiting))
		tell(oldest, prometheus.GaugeValue, is.Oldest.Seconds())
	}
	tell(held, prometheus.GaugeValue, float64(is.HeldBack))
	tell(sent, prometheus.CounterValue, float64(is.Sent))
	tell(refused, prometheus.CounterValue, float64(is.Refused))
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
