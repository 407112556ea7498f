package cardcharge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// provider charges once for each Idempotency-Key, and counts the calls. It refuses a card that is
// stolen.
type provider struct {
	mu      sync.Mutex
	calls   int
	charges map[string]string // charge_id by key
	// before runs in the nth call, before its answer; a status that is not 0 is the answer.
	before func(r *http.Request, nth int) (status int)
	after  bool // before runs behind the charge, not in front of it
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.calls++
	nth := p.calls
	p.mu.Unlock()
	order, _ := io.ReadAll(r.Body) // a server notices only then that its client is gone
	if bytes.Contains(order, []byte("stolen")) {
		w.WriteHeader(http.StatusPaymentRequired)
		return
	}
	if p.before != nil && !p.after {
		if status := p.before(r, nth); status != 0 {
			w.WriteHeader(status)
			return
		}
	}
	id := p.charge(r.Header.Get("Idempotency-Key"))
	if p.before != nil && p.after {
		if status := p.before(r, nth); status != 0 {
			w.WriteHeader(status)
			return
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": id, "at": time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)})
}

func (p *provider) charge(key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.charges == nil {
		p.charges = map[string]string{}
	}
	if p.charges[key] == "" {
		p.charges[key] = fmt.Sprint("charge-", len(p.charges)+1)
	}
	return p.charges[key]
}

// did are the calls and the charges so far.
func (p *provider) did() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%d calls, %d charges", p.calls, len(p.charges))
}

// shop is a service at work.
type shop struct {
	t      *testing.T
	db     *pgxpool.Pool
	server *httptest.Server
}

func open(t *testing.T, p *provider) *shop {
	t.Helper()
	s := &shop{t: t, db: idemtest.DB(t), server: httptest.NewServer(p)}
	t.Cleanup(s.server.Close)
	idemtest.Migrate(t, s.db, "migrations")
	return s
}

// owner takes the partition over, as a process does that begins.
func (s *shop) owner() *idemtest.Writer {
	s.t.Helper()
	c, err := NewConsumer(s.db, Service{Provider: s.server.URL, Client: s.server.Client()}, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		s.t.Fatal(err)
	}
	w, err := idemtest.Own(s.t, c, "charges.v1", 0, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// requested are records that ask for the charge of one order, under one key.
func requested(from int64, copies int) (records []idem.Message) {
	const order = "00000000-0000-4000-8000-000000000001"
	for i := range copies {
		records = append(records, idem.Message{
			Topic: "charges.v1", Offset: from + int64(i), LeaderEpoch: -1, Key: []byte(order),
			Headers: []idem.Header{{Name: "Idempotency-Key", Value: []byte("k-1")}},
			Value:   fmt.Appendf(nil, `{"order_id":%q,"cents":1999,"card_token":"tok"}`, order),
		})
	}
	return records
}

// holds compares what the provider did, the rows of charges, and the dead letters.
func (s *shop) holds(p *provider, did, rows, letters string) {
	s.t.Helper()
	var gotRows, gotLetters string
	err := s.db.QueryRow(s.t.Context(), `
SELECT (SELECT coalesce(string_agg(cents || ' ' || charge_id, ', '), '') FROM charges),
       (SELECT coalesce(string_agg(split_part(reason, ':', 1), ', '), '') FROM idem_dead_letter)`).Scan(&gotRows, &gotLetters)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := p.did(); got != did || gotRows != rows || gotLetters != letters {
		s.t.Errorf("%s; rows %q; dead letters %q", got, gotRows, gotLetters)
	}
}

func (s *shop) apply(w *idemtest.Writer, records []idem.Message) {
	s.t.Helper()
	if _, err := w.Apply(s.t.Context(), records); err != nil {
		s.t.Fatal(err)
	}
}

func TestCopiesAreOneCall(t *testing.T) {
	var p provider
	s := open(t, &p)
	s.apply(s.owner(), requested(0, 3))
	s.apply(s.owner(), requested(3, 1))
	s.holds(&p, "1 calls, 1 charges", "1999 charge-1", "")
}

// The provider charges and never answers: the call is made again with the same key, and is the
// same charge.
func TestAnswerThatNeverComesIsNoSecondCharge(t *testing.T) {
	p := provider{after: true}
	p.before = func(r *http.Request, nth int) int {
		if nth == 1 {
			<-r.Context().Done()
		}
		return 0
	}
	s := open(t, &p)
	s.apply(s.owner(), requested(0, 1))
	s.holds(&p, "2 calls, 1 charges", "1999 charge-1", "")
}

// The provider charges, and answers that it broke: the same.
func TestBrokenAnswerIsNoSecondCharge(t *testing.T) {
	p := provider{after: true}
	p.before = func(_ *http.Request, nth int) int {
		if nth == 1 {
			return http.StatusInternalServerError
		}
		return 0
	}
	s := open(t, &p)
	s.apply(s.owner(), requested(0, 1))
	s.holds(&p, "2 calls, 1 charges", "1999 charge-1", "")
}

// A provider that is slow is called once, also if the partition changes hands meanwhile.
func TestSlowAnswerOutlivesItsPartition(t *testing.T) {
	begun := make(chan struct{})
	p := provider{}
	p.before = func(*http.Request, int) int {
		close(begun)
		time.Sleep(time.Second)
		return 0
	}
	s := open(t, &p)
	first := s.owner()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := first.Apply(ctx, requested(0, 1))
		ended <- err
	}()
	<-begun
	cancel()
	second := s.owner()
	if err := <-ended; err == nil {
		t.Error("who lost the partition applied the record")
	}
	s.apply(second, requested(0, 1))
	s.holds(&p, "1 calls, 1 charges", "1999 charge-1", "")
}

// A card that is refused is a dead letter after one call, and one that is refused for now is not.
func TestRefusals(t *testing.T) {
	for status, want := range map[int][3]string{
		http.StatusPaymentRequired: {"1 calls, 0 charges", "", "effect"},
		http.StatusTooManyRequests: {"2 calls, 1 charges", "1999 charge-1", ""},
	} {
		p := provider{}
		p.before = func(_ *http.Request, nth int) int {
			if nth == 1 {
				return status
			}
			return 0
		}
		s := open(t, &p)
		s.apply(s.owner(), requested(0, 1))
		s.holds(&p, want[0], want[1], want[2])
	}
}

// docs/effects.md shows the call as it is made here.
func TestTheDocumentationShowsThisCall(t *testing.T) {
	code, err := os.ReadFile("handler.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/effects.md")
	if _, call, found := bytes.Cut(code, []byte("\nfunc (s Service) ")); err != nil || !found || !bytes.Contains(page, call) {
		t.Errorf("%v: docs/effects.md has another text of ChargeRequested than handler.go", err)
	}
}
