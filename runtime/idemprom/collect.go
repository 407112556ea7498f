package idemprom

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtype"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"consumer"}, labels...), nil)
}

// The metrics that are read from the consumers at each scrape.
var (
	healthy = desc("idemgen_healthy", "1 while every partition makes progress or is paused, otherwise 0: Consumer.Health returns the reasons.")
	records = desc("idemgen_records_total", "Records by outcome: applied, redelivered (by Kafka), duplicate (resent by the producer), conflict, dead, waiting or ignored.", "outcome")
	problem = desc("idemgen_problem_seconds", "How long a problem that Consumer.Health returns has lasted. topic and partition are empty if it concerns the whole service.", "code", "topic", "partition")
	fences  = desc("idemgen_foreign_fences_total", "Number of times that another owner took over a partition that is assigned here. If it keeps growing, two deployments use the same consumer name.")
	back    = desc("idemgen_ledger_went_back_total", "Number of takeovers of a partition whose database had lost commits, as after a restore or a failover.")
	fenced  = desc("idemgen_fenced_batches_total", "Batches that were rejected because another owner had taken over the partition.")
	expired = desc("idemgen_dead_letters_expired_total", "Dead letters that were closed because on_failure.keep had passed.")
	open    = desc("idemgen_dead_letters_open", "Open dead letters in the database, parked records included, by the first word of their reason. Only in the process that does the upkeep.", "class")

	running = desc("idemgen_effect_calls_running", "Calls of effects that are running.")
	oldest  = desc("idemgen_effect_call_oldest_seconds", "How long the oldest call of an effect has been running.")
	waiting = desc("idemgen_effect_records_waiting", "Records that wait for their effect.")

	lag      = desc("idemgen_partition_lag_records", "Offsets from the position to the end of the log: an upper bound for the number of records. Absent while it is unknown.", "topic", "partition")
	lagTime  = desc("idemgen_partition_lag_seconds", "Age of the oldest record that is not durable.", "topic", "partition")
	position = desc("idemgen_partition_position", "The next offset to apply. Absent until the ledger has been read.", "topic", "partition")
	state    = desc("idemgen_partition_state", "1 for the state that the partition is in.", "topic", "partition", "state")
	parked   = desc("idemgen_partition_parked_keys", "Record keys with a dead letter behind which records wait.", "topic", "partition")
	behind   = desc("idemgen_partition_parked_records", "Records that wait behind a dead letter.", "topic", "partition")
)

var asked = []*prometheus.Desc{healthy, problem, records, fences, back, fenced, expired, open, running, oldest, waiting, lag, lagTime, position, state, parked, behind}

// told returns the metrics that the hooks update.
func (m *Metrics) told() []prometheus.Collector {
	return []prometheus.Collector{m.batches, m.calls, m.takeOvers, m.letters, m.halts, m.retries, m.upkeep}
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.told() {
		c.Describe(to)
	}
	for _, d := range asked {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. It queries neither the broker nor the database.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.told() {
		c.Collect(to)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.consumers {
		scrape{to, c.Name()}.of(c)
	}
}

// scrape is one consumer's part of a scrape.
type scrape struct {
	to       chan<- prometheus.Metric
	consumer string
}

func (s scrape) counter(d *prometheus.Desc, n int64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), append([]string{s.consumer}, labels...)...)
}

func (s scrape) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{s.consumer}, labels...)...)
}

func (s scrape) of(c Consumer) {
	is := c.Stats()
	well, problems := 0.0, c.Health()
	if problems.Err() == nil {
		well = 1
	}
	s.gauge(healthy, well)
	for labels, d := range lasting(problems) {
		s.gauge(problem, d.Seconds(), labels[:]...)
	}
	for _, r := range []struct {
		outcome string
		n       int64
	}{
		{"applied", is.Applied}, {"redelivered", is.Redelivered}, {"duplicate", is.Resent}, {"conflict", is.Conflicts},
		{"dead", is.Dead}, {"waiting", is.Waiting}, {"ignored", is.Ignored},
	} {
		s.counter(records, r.n, r.outcome)
	}
	s.counter(fences, is.ForeignFences)
	s.counter(back, is.WentBack)
	s.counter(fenced, is.Fenced)
	s.counter(expired, is.Expired)
	for class, n := range is.OpenDead {
		s.gauge(open, float64(n), class)
	}
	s.gauge(running, float64(is.Calls.Running))
	s.gauge(oldest, is.Calls.Oldest.Seconds())
	s.gauge(waiting, float64(is.Calls.Waiting))
	for _, p := range is.Partitions {
		s.partition(p)
	}
}

// lasting returns how long each problem has lasted, by the labels of its metric: of problems with
// the same labels, such as two calls of one partition, the one that has lasted longest.
func lasting(problems idemtype.Problems) map[[3]string]time.Duration {
	all := map[[3]string]time.Duration{}
	for _, p := range problems {
		labels := [3]string{p.Code}
		if p.Partition >= 0 {
			labels = [3]string{p.Code, p.Topic, strconv.Itoa(int(p.Partition))}
		}
		all[labels] = max(all[labels], time.Since(p.Since))
	}
	return all
}

func (s scrape) partition(p idem.PartitionStats) {
	topic, n := p.Partition.Topic, number(p.Partition)
	if p.Lag >= 0 {
		s.gauge(lag, float64(p.Lag), topic, n)
	}
	s.gauge(lagTime, p.LagTime.Seconds(), topic, n)
	if p.Position >= 0 {
		s.gauge(position, float64(p.Position), topic, n)
	}
	s.gauge(state, 1, topic, n, p.State)
	s.gauge(parked, float64(p.ParkedKeys), topic, n)
	s.gauge(behind, float64(p.WaitingRecords), topic, n)
}

func number(p idemtype.Partition) string { return strconv.Itoa(int(p.Number)) }
