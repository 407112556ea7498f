package confluent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
)

// session is how long a member may be silent before the group gives its partitions to others.
const session = 3 * time.Second

// testPace is a pace for tests that do not measure it.
func testPace() *pace {
	p := usualPace
	p.backoff, p.maxBackoff, p.idle = 50*time.Millisecond, 300*time.Millisecond, 200*time.Millisecond
	p.commit, p.compare, p.silence = 200*time.Millisecond, 300*time.Millisecond, time.Second
	return &p
}

func subscription() idem.Subscription {
	return idem.Subscription{
		Group: "orders", Topics: []string{topicName},
		BatchEvents: 100, BatchBytes: 1 << 20, BatchWait: 20 * time.Millisecond, MaxPollInterval: time.Minute,
	}
}

// onBothProtocols runs a test with both ways of sharing partitions out.
func onBothProtocols(t *testing.T, test func(t *testing.T, protocol string)) {
	t.Parallel()
	for _, protocol := range []string{"classic", "consumer"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			test(t, protocol)
		})
	}
}

// source is a Source that logs into the test, with a short session.
func source(t testing.TB, brokers string) *Source {
	return sourceBy(t, brokers, "classic")
}

func sourceBy(t testing.TB, brokers, protocol string) *Source {
	log := &testLog{}
	t.Cleanup(func() { // after the source has ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	config := kafka.ConfigMap{"group.protocol": protocol}
	if protocol == "classic" {
		config["session.timeout.ms"], config["heartbeat.interval.ms"] = int(session.Milliseconds()), 200
	}
	return &Source{
		Brokers: brokers,
		Config:  config,
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

// startToFail runs a source until the test ends. It may fail: a member that the group no longer
// hears may find its place taken, which its client cannot mend.
func startToFail(t testing.TB, s *Source, sub idem.Subscription, sink idem.Sink) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(t.Context(), sub, sink); err != nil {
			t.Log(err)
		}
	}()
	t.Cleanup(func() { <-done })
}

// sleep reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// eventually waits until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// happens waits for an event.
func happens(t testing.TB, what string, event <-chan struct{}) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(time.Minute):
		t.Fatalf("not within a minute: %s", what)
	}
}

// complete fails unless every one of n offsets of each partition was delivered.
func complete(t testing.TB, l *ledger, n int, partitions ...int32) {
	t.Helper()
	for _, p := range partitions {
		delivered(t, l, idem.Partition{Topic: topicName, Number: p}, numbers(n))
	}
}

// delivered fails unless exactly these offsets were delivered, in this order.
func delivered(t testing.TB, l *ledger, p idem.Partition, want []int64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.offsets[p]
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("partition %d: offset %d and %d more were not delivered", p.Number, want[i], len(want)-i-1)
		case i >= len(want):
			t.Errorf("partition %d: offset %d and %d more were delivered, but not wanted", p.Number, got[i], len(got)-i-1)
		case got[i] != want[i]:
			t.Errorf("partition %d: delivery %d is of offset %d, want %d", p.Number, i, got[i], want[i])
		default:
			continue
		}
		return
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
