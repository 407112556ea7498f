// Package outboxprom tells Prometheus what a relay of package outbox does:
//
//	prometheus.MustRegister(outboxprom.New(relay))
//
// docs/operations.md lists the metrics. Of this module the package must not import any but outbox:
// so who has no outbox does not link it, and who has no consumer links none.
package outboxprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// Relay is what is asked at each scrape: an [outbox.Relay].
type Relay interface {
	Stats() outbox.Stats
	Health() error
}

func desc(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }

var (
	healthy = desc("idemgen_outbox_healthy", "1 while nothing holds events back, else 0: Relay.Health says why.")
	leading = desc("idemgen_outbox_leading", "1 for the relay that sends the events. One of all processes has it.")
	waiting = desc("idemgen_outbox_waiting_events", "Events in the table, counted up to MaxWaiting and one more. Every relay counts them.")
	oldest  = desc("idemgen_outbox_oldest_seconds", "How long the first event of the table has waited.")
	held    = desc("idemgen_outbox_held_aggregates", "Aggregates that wait because the broker refuses their first event.")
	sent    = desc("idemgen_outbox_sent_total", "Events that the broker has acknowledged.")
	refused = desc("idemgen_outbox_refused_total", "How often the broker refused an event.")
)

// collector collects the numbers of a relay.
type collector struct{ Relay }

// New returns a collector of a relay's metrics. They have no label: for several relays in one
// process register each with labels, by [prometheus.WrapRegistererWith].
func New(r Relay) prometheus.Collector { return collector{r} }

// Describe is of [prometheus.Collector].
func (collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{healthy, leading, waiting, oldest, held, sent, refused} {
		to <- d
	}
}

// Collect is of [prometheus.Collector]. It asks neither broker nor database.
func (c collector) Collect(to chan<- prometheus.Metric) {
	is := c.Stats()
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
		to <- prometheus.MustNewConstMetric(d, kind, v)
	}
	tell(healthy, prometheus.GaugeValue, one(c.Health() == nil))
	tell(leading, prometheus.GaugeValue, one(is.Leading))
	tell(waiting, prometheus.GaugeValue, float64(is.Waiting))
	tell(oldest, prometheus.GaugeValue, is.Oldest.Seconds())
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
