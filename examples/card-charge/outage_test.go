package cardcharge

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/port"
	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// counted counts calls, whether they reach the provider or not.
type counted struct{ calls atomic.Int64 }

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

// lines is a log that tests read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// reachable serves the provider at an address, until it is closed.
func reachable(t *testing.T, p *provider, address string) *http.Server {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: p, Addr: listener.Addr().String()}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return server
}

// produce sends requests for charges of orders.
func produce(t *testing.T, broker *idemtest.Broker, from, n int) {
	t.Helper()
	var all []*wire.Message
	for i := from; i < from+n; i++ {
		order := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		all = append(all, &wire.Message{
			Topic: "charges.v1", Partition: idemtest.ByKey, Key: []byte(order),
			Headers: []wire.Header{{Name: "Idempotency-Key", Value: []byte(order)}},
			Value:   fmt.Appendf(nil, `{"order_id":%q,"cents":1999,"card_token":"tok"}`, order),
		})
	}
	if err := broker.Produce(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
}

// However long the provider is away, no event becomes a dead letter and no partition halts: few
// calls look whether it is back, and then all goes on by itself.
func TestOutageOfTheProvider(t *testing.T) {
	away, soon := 5*time.Second, 30*time.Second
	if longtest.Wanted() {
		away = 105 * time.Second
	}
	p := &provider{}
	address, err := port.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	server := reachable(t, p, address)
	db, client, log := idemtest.DB(t), &counted{}, &lines{}
	idemtest.Migrate(t, db, "migrations")
	broker := idemtest.Kafka(t, map[string]int32{"charges.v1": 4})
	c, err := NewConsumer(db, Service{Provider: "http://" + server.Addr, Client: &http.Client{Transport: client}}, idem.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, &franz.Source{Brokers: broker.Addr()}) }()
	charged := func() (n int) {
		if err := db.QueryRow(t.Context(), `SELECT count(*) FROM charges`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	until := func(what string, most time.Duration, is func() bool) {
		t.Helper()
		for end := time.Now().Add(most); !is(); time.Sleep(50 * time.Millisecond) {
			if h := c.Health().Err(); h != nil && strings.Contains(h.Error(), "HALTED") || time.Now().After(end) {
				t.Fatalf("%s: not yet; Health: %v\n%s", what, h, log)
			}
		}
	}
	produce(t, broker, 0, 40)
	until("before the outage", time.Minute, func() bool { return charged() == 40 })

	server.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	before, gone := client.calls.Load(), time.Now()
	produce(t, broker, 40, 200)
	until("told", away+soon, func() bool {
		h := c.Health().Err()
		return time.Since(gone) > away && h != nil && strings.Contains(h.Error(), "effect ChargeRequested")
	})
	meanwhile := client.calls.Load() - before

	reachable(t, p, server.Addr)
	back := time.Now()
	until("after the outage", away+soon, func() bool { return charged() == 240 })
	t.Logf("away for %v: %d calls meanwhile; all events were applied %v later; Health: %v\n%s",
		back.Sub(gone).Round(time.Second), meanwhile, time.Since(back).Round(100*time.Millisecond), c.Health().Err(), log)
	var letters int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM idem_dead_letter`).Scan(&letters); err != nil || letters > 0 {
		t.Errorf("%d dead letters, %v", letters, err)
	}
	if most := int64(20 + away/(500*time.Millisecond)); meanwhile > most {
		t.Errorf("%d calls while the provider was away, want at most %d", meanwhile, most)
	}
	if got := p.did(); got != "240 calls, 240 charges" {
		t.Error(got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
