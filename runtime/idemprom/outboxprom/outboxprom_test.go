package outboxprom_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/idemgen/idemgen/runtime/idemprom/outboxprom"
	"github.com/idemgen/idemgen/runtime/outbox"
)

var _ outboxprom.Relay = (*outbox.Relay)(nil)

type relay struct{ is outbox.Stats }

func (r relay) Stats() outbox.Stats { return r.is }
func (r relay) Health() error {
	if r.is.HeldBack > 0 {
		return errors.New("an aggregate is held back")
	}
	return nil
}

const led = `idemgen_outbox_healthy{of="led"} 0
idemgen_outbox_held_aggregates{of="led"} 3
idemgen_outbox_leading{of="led"} 1
idemgen_outbox_oldest_seconds{of="led"} 2.5
idemgen_outbox_refused_total{of="led"} 5
idemgen_outbox_sent_total{of="led"} 4
idemgen_outbox_waiting_events{of="led"} 1
`

const idle = `idemgen_outbox_healthy 1
idemgen_outbox_held_aggregates 0
idemgen_outbox_leading 0
idemgen_outbox_oldest_seconds 90
idemgen_outbox_refused_total 0
idemgen_outbox_sent_total 9
idemgen_outbox_waiting_events 2
`

// A scrape has what a relay says, also of one that does not lead, and nothing that it does not
// know. docs/operations.md has the name of every metric.
func TestScrape(t *testing.T) {
	stats := outbox.Stats{Leading: true, Counted: true, Waiting: 1, Oldest: 2500 * time.Millisecond, HeldBack: 3, Sent: 4, Refused: 5}
	registry := prometheus.NewPedanticRegistry()
	prometheus.WrapRegistererWith(prometheus.Labels{"of": "led"}, registry).MustRegister(outboxprom.New(relay{stats}))
	if got := scrape(t, registry); got != led {
		t.Errorf("got\n%swant\n%s", got, led)
	}
	registry = prometheus.NewPedanticRegistry()
	registry.MustRegister(outboxprom.New(relay{outbox.Stats{Sent: 9, Counted: true, Waiting: 2, Oldest: 90 * time.Second}}))
	if got := scrape(t, registry); got != idle {
		t.Errorf("got\n%swant\n%s", got, idle)
	}
	registry = prometheus.NewPedanticRegistry()
	registry.MustRegister(outboxprom.New(relay{}))
	if got := scrape(t, registry); strings.Contains(got, "waiting") || strings.Contains(got, "oldest") || !strings.Contains(got, "leading 0") {
		t.Errorf("of a relay that could not count events, got\n%s", got)
	}
}

func scrape(t *testing.T, registry *prometheus.Registry) (values string) {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	docs, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(answer.Body.String()) {
		if name, is := strings.CutPrefix(line, "# TYPE "); is && !strings.Contains(string(docs), "| `"+strings.Fields(name)[0]+"` |") {
			t.Errorf("docs/operations.md lacks %s", name)
		}
		if line[0] != '#' {
			values += line
		}
	}
	return values
}
