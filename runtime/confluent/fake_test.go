package confluent

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
)

const topicName = "orders.v1"

// ledger stands in for the database: several sinks may share it.
type ledger struct {
	mu      sync.Mutex
	next    map[idem.Partition]int64
	offsets map[idem.Partition][]int64 // that were delivered
	records []idem.Message             // the same, if kept
	keep    bool
}

func newLedger() *ledger {
	return &ledger{next: map[idem.Partition]int64{}, offsets: map[idem.Partition][]int64{}}
}

func (l *ledger) count() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.offsets {
		n += len(o)
	}
	return n
}

func (l *ledger) position(p idem.Partition) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next[p]
}

// fakeSink is what the runtime is to a Source. It fails the test when calls for one
// partition overlap, or a record comes before its partition was taken over, twice, or out
// of order.
type fakeSink struct {
	t      testing.TB
	ledger *ledger
	assign func(context.Context, idem.Assignment) (idem.Position, error) // nil: the ledger's
	before func(context.Context, idem.Partition, []idem.Message) error   // before a delivery

	mu      sync.Mutex
	busy    map[idem.Partition]string
	owned   map[idem.Partition]bool
	calls   []string
	answers []idem.Assignment
}

func newSink(t testing.TB, l *ledger) *fakeSink {
	return &fakeSink{t: t, ledger: l, busy: map[idem.Partition]string{}, owned: map[idem.Partition]bool{}}
}

func (s *fakeSink) enter(p idem.Partition, call string) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.busy[p]; other != "" {
		s.t.Errorf("%s of %v while %s is not over", call, p, other)
	}
	s.busy[p] = call
	if call != "Deliver" {
		s.calls = append(s.calls, fmt.Sprintf("%s %d", call, p.Number))
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.busy, p)
	}
}

func (s *fakeSink) Assigned(ctx context.Context, a idem.Assignment) (idem.Position, error) {
	defer s.enter(a.Partition, "Assigned")()
	s.mu.Lock()
	s.answers = append(s.answers, a)
	s.mu.Unlock()
	at := idem.Position{Offset: s.ledger.position(a.Partition), Epoch: -1}
	if s.assign != nil {
		var err error
		if at, err = s.assign(ctx, a); err != nil {
			return at, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owned[a.Partition] = true
	return at, nil
}

func (s *fakeSink) Deliver(ctx context.Context, p idem.Partition, records []idem.Message) error {
	defer s.enter(p, "Deliver")()
	s.mu.Lock()
	if !s.owned[p] {
		s.t.Errorf("records of %v before it was taken over", p)
	}
	s.mu.Unlock()
	if s.before != nil {
		if err := s.before(ctx, p, records); err != nil {
			s.mu.Lock()
			s.owned[p] = false
			s.mu.Unlock()
			return err
		}
	}
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range records {
		if m.Offset < l.next[p] {
			s.t.Errorf("offset %d of %v came again; the position is %d", m.Offset, p, l.next[p])
		}
		l.next[p] = m.Offset + 1
		l.offsets[p] = append(l.offsets[p], m.Offset)
		if l.keep {
			l.records = append(l.records, m)
		}
	}
	return nil
}

func (s *fakeSink) Durable(p idem.Partition) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.owned[p] {
		return -1
	}
	return s.ledger.position(p)
}

func (s *fakeSink) Revoked(p idem.Partition) { s.gone(p, "Revoked") }
func (s *fakeSink) Lost(p idem.Partition)    { s.gone(p, "Lost") }

func (s *fakeSink) gone(p idem.Partition, call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[p] == "Assigned" {
		s.t.Errorf("%s of %v while Assigned is not over", call, p)
	}
	s.owned[p] = false
	s.calls = append(s.calls, fmt.Sprintf("%s %d", call, p.Number))
}

// seen is how often a call was made, for one partition ("Assigned 0") or any ("Assigned").
func (s *fakeSink) seen(call string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == call || strings.HasPrefix(c, call+" ") {
			n++
		}
	}
	return n
}

func (s *fakeSink) owns() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.owned {
		if o {
			n++
		}
	}
	return n
}

// testPace is a pace for tests that do not measure it.
func testPace() *pace {
	p := usualPace
	p.standby, p.backoff, p.hint, p.watch = 300*time.Millisecond, 50*time.Millisecond, 200*time.Millisecond, time.Second
	return &p
}

func subscription() idem.Subscription {
	return idem.Subscription{
		Group: "orders", Topics: []string{topicName},
		BatchEvents: 100, BatchBytes: 1 << 20, BatchWait: 20 * time.Millisecond, MaxPollInterval: time.Minute,
	}
}

// source is a Source that logs into the test, with a short session.
func source(t testing.TB, brokers string) *Source {
	log := &testLog{}
	t.Cleanup(func() { // after the source has ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return &Source{
		Brokers: brokers,
		Config:  kafka.ConfigMap{"session.timeout.ms": 6000, "heartbeat.interval.ms": 200},
		Logger:  textLogger(log),
		pace:    testPace(),
	}
}

// testLog is shown if the test fails.
type testLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// start runs a source until stop is called, or the test ends. stop returns Run's error.
func start(t testing.TB, s *Source, sub idem.Subscription, sink idem.Sink) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, sub, sink) }()
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			return fmt.Errorf("Run did not return within 20 s of its context's end")
		}
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return stop
}

// eventually waits until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// complete fails unless every one of n offsets of each partition was delivered.
func complete(t testing.TB, l *ledger, n int, partitions ...int32) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range partitions {
		got := l.offsets[idem.Partition{Topic: topicName, Number: p}]
		if want := numbers(n); !slices.Equal(got, want) {
			t.Errorf("partition %d: %d offsets were delivered, want 0 to %d once each, in order", p, len(got), n-1)
		}
	}
}

func numbers(n int) (out []int64) {
	for i := range n {
		out = append(out, int64(i))
	}
	return out
}

func textLogger(w *testLog) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
}
