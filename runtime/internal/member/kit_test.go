package member_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/member"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// session is how long a member may be silent before the group gives its partitions to others.
const session = 3 * time.Second

// testPace is a pace for tests that do not measure it.
func testPace() member.Pace {
	p := member.Usual
	p.Backoff, p.MaxBackoff, p.Idle = 50*time.Millisecond, 300*time.Millisecond, 200*time.Millisecond
	p.Commit, p.Compare, p.Silence = 200*time.Millisecond, 300*time.Millisecond, time.Second
	return p
}

func subscription() idem.Subscription {
	return idem.Subscription{
		Group: "orders", Topics: []string{topicName},
		BatchEvents: 100, BatchBytes: 1 << 20, BatchWait: 20 * time.Millisecond, MaxPollInterval: time.Minute,
	}
}

// A client is a Kafka client whose Source is held to what is promised.
type client struct {
	name string
	open func(*source) idem.Source
	send func(t testing.TB, brokers string, l login) sender
	// revokes is what its log says when it has a revoke for its application.
	revokes string
	// watched is whether it leaves the group when it is polled no more.
	watched bool
	// memory is how much of what it fetched is on Go's heap.
	memory int64
	// takes is the partition that the group takes from who has two, for another member.
	takes int32
	// drain polls records of so many partitions, with the settings of its Source, and does nothing
	// with them.
	drain func(t testing.TB, brokers string, records int)
	// refused is what it says of a port that nobody listens on.
	refused string
}

type sender interface {
	outbox.Producer
	Close()
}

// drained is how many partitions drain polls.
const drained = 4

// clients are those that are built: confluent needs cgo.
var clients []client

// The two ways of sharing partitions out.
const (
	classic = "classic"
	kip848  = "consumer"
)

// kind is a client, and the way in which its group shares partitions out.
type kind struct {
	client
	protocol string
}

// withEach runs a test with each client, and both ways of sharing partitions out.
func withEach(t *testing.T, test func(t *testing.T, k kind)) {
	withBoth(t, func(t *testing.T, k kind) {
		for _, protocol := range []string{classic, kip848} {
			t.Run(protocol, func(t *testing.T) {
				t.Parallel()
				test(t, kind{k.client, protocol})
			})
		}
	})
}

// withBoth runs a test with each client.
func withBoth(t *testing.T, test func(t *testing.T, k kind)) {
	t.Parallel()
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, kind{c, classic})
		})
	}
}

// source is a Source that is opened when it runs.
type source struct {
	kind
	Brokers  string
	Logger   *slog.Logger
	pace     member.Pace
	session  time.Duration
	instance string        // of a static member
	metadata time.Duration // after which topics are looked at again; 0 is the usual
	debug    bool          // its log says all of the group
	login    login
}

func (s *source) Run(ctx context.Context, sub idem.Subscription, sink idem.Sink) error {
	return s.open(s).Run(member.AtPace(ctx, s.pace), sub, sink)
}

// open is a Source that logs into the test, with a short session.
func open(t testing.TB, brokers string, k kind) *source {
	log := &testLog{}
	t.Cleanup(func() { // after the source has ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return &source{kind: k, Brokers: brokers, Logger: textLogger(log), pace: testPace(), session: session}
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
func start(t testing.TB, s idem.Source, sub idem.Subscription, sink idem.Sink) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, sub, sink) }()
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(time.Minute):
			return fmt.Errorf("Run did not return within a minute of its context's end")
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
func startToFail(t testing.TB, s idem.Source, sub idem.Subscription, sink idem.Sink) {
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

// patience is how long a test waits at most. librdkafka asks again after 63 s if a request to join
// was not answered.
const patience = 3 * time.Minute

// eventually waits until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// happens waits for an event.
func happens(t testing.TB, what string, event <-chan struct{}) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
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
