// Package idemprom exports the metrics of consumers to Prometheus. A [Metrics] is a hook and a
// collector:
//
//	metrics := idemprom.New()
//	consumer, err := orders.NewConsumer(db, idem.WithHooks(metrics))
//	...
//	metrics.Watch(consumer)
//	prometheus.MustRegister(metrics)
//
// docs/operations.md lists the metrics. It must not import any package of this module but
// idem, hook and idemtype.
package idemprom

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtype"
)

// Consumer is a source of metrics, read at each scrape: an [idem.Consumer].
type Consumer interface {
	Name() string
	Stats() idem.Stats
	Health() idemtype.Problems
}

// Metrics collects metrics from hooks, and from the statistics of the consumers that it watches.
type Metrics struct {
	batches, calls, takeOvers *prometheus.HistogramVec
	letters, halts, retries   *prometheus.CounterVec
	upkeep                    *prometheus.CounterVec

	mu        sync.Mutex
	consumers []Consumer
}

var (
	_ prometheus.Collector = (*Metrics)(nil)
	_ hook.BatchStart      = (*Metrics)(nil)
	_ hook.BatchEnd        = (*Metrics)(nil)
	_ hook.Call            = (*Metrics)(nil)
	_ hook.DeadLetter      = (*Metrics)(nil)
	_ hook.Retry           = (*Metrics)(nil)
	_ hook.State           = (*Metrics)(nil)
	_ hook.TakeOver        = (*Metrics)(nil)
	_ hook.Upkeep          = (*Metrics)(nil)
)

// New returns metrics. Pass them to WithHooks of package idem, and register them with a Prometheus
// registry. One Metrics can serve all consumers of a process. The metrics that hooks feed, of
// batches, calls, take-overs, dead letters, halts, retries and upkeep, have no label for the
// consumer: if two consumers read the same topic, give each a Metrics of its own, and registries
// that add different labels.
func New() *Metrics {
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return &Metrics{
		batches: histogram("idemgen_batch_seconds", "Time from the start of a batch until it is durable (result=done) or has failed (result=failed).",
			prometheus.ExponentialBuckets(0.001, 2, 15), "topic", "result"),
		calls: histogram("idemgen_effect_call_seconds", "Duration of calls of effects, by outcome: done, failed, interrupted or lost.",
			prometheus.ExponentialBuckets(0.005, 2, 14), "topic", "event", "outcome"),
		takeOvers: histogram("idemgen_takeover_seconds", "Duration of takeovers of partitions.",
			prometheus.ExponentialBuckets(0.005, 2, 14), "topic"),
		letters: counter("idemgen_dead_letters_total", "Records that became dead letters, by the class of the reason.", "topic", "event", "class"),
		halts:   counter("idemgen_halts_total", "Number of times that a partition was halted: an operator must act.", "topic", "partition"),
		retries: counter("idemgen_batch_retries_total", "Retries of batches, after outages, deadlocks and errors of handlers.", "topic"),
		upkeep:  counter("idemgen_upkeep_runs_total", "Runs of the upkeep of the runtime's tables, in the one process that does it.", "result"),
	}
}

// Watch adds a consumer whose statistics are collected at each scrape. It replaces an earlier one
// of the same name.
func (m *Metrics) Watch(c Consumer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.consumers = slices.DeleteFunc(m.consumers, func(o Consumer) bool { return o.Name() == c.Name() })
	m.consumers = append(m.consumers, c)
}

type startedAt struct{}

// OnBatchStart is called by the runtime.
func (m *Metrics) OnBatchStart(ctx context.Context, _ idemtype.Partition, _ int) context.Context {
	return context.WithValue(ctx, startedAt{}, time.Now())
}

// OnBatchEnd is called by the runtime.
func (m *Metrics) OnBatchEnd(ctx context.Context, p idemtype.Partition, _ idemtype.Result, err error) {
	result := "done"
	if err != nil {
		result = "failed"
	}
	if at, ok := ctx.Value(startedAt{}).(time.Time); ok {
		m.batches.WithLabelValues(p.Topic, result).Observe(time.Since(at).Seconds())
	}
}

// OnCall is called by the runtime.
func (m *Metrics) OnCall(_ context.Context, p idemtype.Partition, c hook.Ended) {
	m.calls.WithLabelValues(p.Topic, c.Event, string(c.Outcome)).Observe(c.Took.Seconds())
}

// OnDeadLetter is called by the runtime.
func (m *Metrics) OnDeadLetter(p idemtype.Partition, d hook.Letter) {
	class, _, _ := strings.Cut(d.Reason, ":")
	m.letters.WithLabelValues(p.Topic, d.Event, class).Inc()
}

// OnRetry is called by the runtime.
func (m *Metrics) OnRetry(p idemtype.Partition, _ hook.Pause) {
	m.retries.WithLabelValues(p.Topic).Inc()
}

// OnState is called by the runtime.
func (m *Metrics) OnState(p idemtype.Partition, _, to string, _ error) {
	if to == "HALTED" {
		m.halts.WithLabelValues(p.Topic, number(p)).Inc()
	}
}

// OnTakeOver is called by the runtime.
func (m *Metrics) OnTakeOver(p idemtype.Partition, t hook.Taken) {
	m.takeOvers.WithLabelValues(p.Topic).Observe(t.Took.Seconds())
}

// OnUpkeep is called by the runtime.
func (m *Metrics) OnUpkeep(_ time.Duration, err error) {
	result := "done"
	if err != nil {
		result = "failed"
	}
	m.upkeep.WithLabelValues(result).Inc()
}
