package idemprom_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemprom"
	"github.com/idemgen/idemgen/runtime/idemtype"
)

var _ idemprom.Consumer = (*idem.Consumer)(nil)

// orders is a consumer with two partitions: one works, and one is halted, and nobody knows how far
// that one is behind. Two calls of the first ignore their context.
type orders struct{}

func (orders) Name() string { return "orders" }
func (orders) Health() idemtype.Problems {
	at := time.Now().Add(-time.Hour)
	return idemtype.Problems{
		{Code: "unavailable", Partition: -1, Since: at, Err: errors.New("no broker responds")},
		{Code: "effect-running", Topic: "orders.v1", Since: at.Add(time.Minute), Err: errors.New("orders.v1/0: offset 1")},
		{Code: "effect-running", Topic: "orders.v1", Since: at, Err: errors.New("orders.v1/0: offset 2")},
		{Code: "database", Topic: "orders.v1", Partition: 1, Since: at, Err: errors.New("orders.v1/1 is halted")},
	}
}
func (orders) Stats() idem.Stats {
	return idem.Stats{
		RecordStats: idem.RecordStats{Applied: 1, Redelivered: 2, Resent: 3, Conflicts: 4, Dead: 5, Waiting: 6, Ignored: 7},
		Fenced:      8, ForeignFences: 9, WentBack: 18, Expired: 10, OpenDead: map[string]int64{"decode": 17},
		Calls: idemtype.CallStats{Running: 11, Oldest: 1500 * time.Millisecond, Waiting: 12},
		Partitions: []idem.PartitionStats{
			{Partition: idem.Partition{Topic: "orders.v1"}, State: "READY", Position: 13, End: 27, Lag: 14, LagTime: 2 * time.Second, ParkedKeys: 15, WaitingRecords: 16},
			{Partition: idem.Partition{Topic: "orders.v1", Number: 1}, State: "HALTED", Position: -1, End: -1, Lag: -1, LagTime: time.Minute},
		},
	}
}

const want = `idemgen_batch_retries_total{topic="orders.v1"} 1
idemgen_batch_seconds_count{result="done",topic="orders.v1"} 1
idemgen_batch_seconds_count{result="failed",topic="orders.v1"} 1
idemgen_dead_letters_expired_total{consumer="orders"} 10
idemgen_dead_letters_open{class="decode",consumer="orders"} 17
idemgen_dead_letters_total{class="conflict",event="OrderPaid",topic="orders.v1"} 1
idemgen_dead_letters_total{class="decode",event="",topic="orders.v1"} 2
idemgen_effect_call_oldest_seconds{consumer="orders"} 1.5
idemgen_effect_call_seconds_count{event="MailWanted",outcome="lost",topic="orders.v1"} 1
idemgen_effect_call_seconds_sum{event="MailWanted",outcome="lost",topic="orders.v1"} 2
idemgen_effect_calls_running{consumer="orders"} 11
idemgen_effect_records_waiting{consumer="orders"} 12
idemgen_fenced_batches_total{consumer="orders"} 8
idemgen_foreign_fences_total{consumer="orders"} 9
idemgen_halts_total{partition="1",topic="orders.v1"} 1
idemgen_healthy{consumer="orders"} 0
idemgen_ledger_went_back_total{consumer="orders"} 18
idemgen_partition_lag_records{consumer="orders",partition="0",topic="orders.v1"} 14
idemgen_partition_lag_seconds{consumer="orders",partition="0",topic="orders.v1"} 2
idemgen_partition_lag_seconds{consumer="orders",partition="1",topic="orders.v1"} 60
idemgen_partition_parked_keys{consumer="orders",partition="0",topic="orders.v1"} 15
idemgen_partition_parked_keys{consumer="orders",partition="1",topic="orders.v1"} 0
idemgen_partition_parked_records{consumer="orders",partition="0",topic="orders.v1"} 16
idemgen_partition_parked_records{consumer="orders",partition="1",topic="orders.v1"} 0
idemgen_partition_position{consumer="orders",partition="0",topic="orders.v1"} 13
idemgen_partition_state{consumer="orders",partition="0",state="READY",topic="orders.v1"} 1
idemgen_partition_state{consumer="orders",partition="1",state="HALTED",topic="orders.v1"} 1
idemgen_problem_seconds{code="database",consumer="orders",partition="1",topic="orders.v1"} 3600
idemgen_problem_seconds{code="effect-running",consumer="orders",partition="0",topic="orders.v1"} 3600
idemgen_problem_seconds{code="unavailable",consumer="orders",partition="",topic=""} 3600
idemgen_records_total{consumer="orders",outcome="applied"} 1
idemgen_records_total{consumer="orders",outcome="conflict"} 4
idemgen_records_total{consumer="orders",outcome="dead"} 5
idemgen_records_total{consumer="orders",outcome="duplicate"} 3
idemgen_records_total{consumer="orders",outcome="ignored"} 7
idemgen_records_total{consumer="orders",outcome="redelivered"} 2
idemgen_records_total{consumer="orders",outcome="waiting"} 6
idemgen_takeover_seconds_count{topic="orders.v1"} 1
idemgen_takeover_seconds_sum{topic="orders.v1"} 0.25
idemgen_upkeep_runs_total{result="done"} 1
idemgen_upkeep_runs_total{result="failed"} 1
`

// A scrape has what the hooks told and what the consumers say, and docs/operations.md has the name
// of every metric.
func TestScrape(t *testing.T) {
	m := idemprom.New()
	m.Watch(orders{})
	m.Watch(orders{}) // as one that is made anew
	first, second := idemtype.Partition{Topic: "orders.v1"}, idemtype.Partition{Topic: "orders.v1", Number: 1}
	failed := errors.New("a failure")
	ctx := m.OnBatchStart(context.Background(), first, 3)
	m.OnBatchEnd(ctx, first, idemtype.Result{}, nil)
	m.OnBatchEnd(m.OnBatchStart(context.Background(), first, 3), first, idemtype.Result{}, failed)
	m.OnCall(context.Background(), first, hook.Ended{Event: "MailWanted", Took: 2 * time.Second, Outcome: hook.CallLost})
	m.OnDeadLetter(first, hook.Letter{Event: "OrderPaid", Reason: "conflict: the key is known", Conflict: true})
	m.OnDeadLetter(first, hook.Letter{Reason: "decode: no JSON"})
	m.OnDeadLetter(second, hook.Letter{Reason: "decode: at a: no text"})
	m.OnRetry(first, hook.Pause{Try: 1, Err: failed})
	m.OnState(second, "FENCING", "HALTED", failed)
	m.OnState(second, "HALTED", "OFF", nil)
	m.OnTakeOver(first, hook.Taken{Took: 250 * time.Millisecond})
	m.OnUpkeep(time.Second, nil)
	m.OnUpkeep(time.Second, failed)

	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	docs, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(answer.Body.String()) {
		if name, is := strings.CutPrefix(line, "# TYPE "); is && !strings.Contains(string(docs), "| `"+strings.Fields(name)[0]+"` |") {
			t.Errorf("docs/operations.md lacks %s", name)
		}
		line = regexp.MustCompile(`^(idemgen_problem_seconds.*) 36\d\d\..*`).ReplaceAllString(line, "$1 3600")
		if line[0] != '#' && !regexp.MustCompile(`^idemgen_batch_seconds_sum|_bucket{`).MatchString(line) {
			got = append(got, line)
		}
	}
	slices.Sort(got)
	if got := strings.Join(got, ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
