package member_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
)

// lateSource is a Source whose polling goroutine is held up, by a revoke of one
// partition, while the other one is taken over for the second time.
type lateSource struct {
	*source
	other          int32           // the partition that is not revoked
	takes          atomic.Int32    // of it
	again, revoked chan struct{}   // the second one begins; a partition is revoked
	taken, fenced  chan struct{}   // the second one is done; it is refused again
	shut           chan struct{}   // its queue is shut
	read           <-chan struct{} // the client has its records nevertheless
}

type lateSink struct {
	idem.Sink
	s *lateSource
}

func newLateSource(s *source) *lateSource {
	late := &lateSource{source: s, other: 1 - s.takes}
	for _, c := range []*chan struct{}{&late.again, &late.revoked, &late.taken, &late.fenced, &late.shut} {
		*c = make(chan struct{})
	}
	s.Logger = slog.New(&lateLog{s.Logger.Handler(), late})
	return late
}

func (s *lateSource) Run(ctx context.Context, sub idem.Subscription, sink idem.Sink) error {
	return s.source.Run(ctx, sub, &lateSink{sink, s})
}

func (s *lateSink) Assigned(ctx context.Context, a idem.Assignment) (idem.Position, error) {
	second := a.Partition.Number == s.s.other && s.s.takes.Add(1) == 2
	if second {
		close(s.s.again)
		select {
		case <-s.s.revoked:
		case <-ctx.Done():
		}
	}
	at, err := s.Sink.Assigned(ctx, a)
	if second {
		close(s.s.taken)
	}
	return at, err
}

func (s *lateSink) Idle(ctx context.Context, p idem.Partition, end int64) error {
	err := s.Sink.Idle(ctx, p, end)
	if p.Number == s.s.other && err != nil && s.s.takes.Load() == 2 {
		close(s.s.fenced)
	}
	return err
}

func (s *lateSink) Revoked(p idem.Partition) idem.Commit {
	if p.Number != s.s.other {
		close(s.s.revoked)
		select {
		case <-s.s.shut:
		case <-time.After(time.Minute): // the test says so
		}
	}
	return s.Sink.Revoked(p)
}

// lateLog holds up the line by which a partition stands by, before which its queue is shut,
// until the polling goroutine has gone on.
type lateLog struct {
	slog.Handler
	s *lateSource
}

func (l *lateLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "partition stands by" && l.s.takes.Load() == 2 {
		close(l.s.shut)
		select {
		case <-l.s.read:
			time.Sleep(200 * time.Millisecond) // and hands them over
		case <-time.After(time.Minute): // the test says so
		}
	}
	return l.Handler.Handle(ctx, r)
}

// fetchedFrom is closed when a client that fetched a partition from an offset has what lies
// before another one, from which it fetches next.
func fetchedFrom(cluster *kfake.Cluster, number int32, from, to int64) <-chan struct{} {
	done := make(chan struct{})
	var begun, ended atomic.Bool
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Count: -1, Observe: true, When: func(r kmsg.Request) bool {
		for _, t := range r.(*kmsg.FetchRequest).Topics {
			for _, p := range t.Partitions {
				switch {
				case p.Partition != number:
				case p.FetchOffset == from:
					begun.Store(true)
				case p.FetchOffset == to && begun.Load() && !ended.Swap(true):
					close(done)
				}
			}
		}
		return true
	}})
	return done
}

// A partition is taken over, and then rewound before the polling goroutine has begun to read
// it: no record that is read at the later position may count at the earlier one.
func TestRewindBeforeReadingBegins(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 2)
		db := diaryDB(t)
		run := func(s idem.Source) (stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			c := consumer(t, db)
			go func() { done <- c.Run(ctx, s) }()
			return func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		}
		s := newLateSource(open(t, brokers, k))
		rewind := func(from, to int64) {
			n := operate.Name{Consumer: "orders", Topic: topicName, Partition: s.other}
			if _, err := operate.Set(t.Context(), db, n, operate.Target{From: from, To: to, ApplyAgain: true}, operate.By{Reason: "a test"}); err != nil {
				t.Fatal(err)
			}
		}
		produce(t, brokers, 100, 0, 1)
		stop := run(s)
		eventually(t, "200 records", func() bool { return query(t, db, `SELECT count(*)::int FROM diary`) == 200 })
		s.read = fetchedFrom(cluster, s.other, 80, 100)
		rewind(100, 80)
		happens(t, "the second take-over begins", s.again)
		stopSecond := run(open(t, brokers, k))
		happens(t, "the second take-over ends: the group took the other partition", s.taken)
		rewind(80, 60)
		happens(t, "the second take-over is refused", s.fenced)
		happens(t, "the client reads at the second position", s.read)
		eventually(t, "the end", func() bool {
			return query(t, db, fmt.Sprintf(`SELECT next::int FROM idem_ledger JOIN idem_stream USING (stream) WHERE partition = %d ORDER BY seq DESC LIMIT 1`, s.other)) == 100
		})
		stop()
		stopSecond()
		if n := query(t, db, fmt.Sprintf(`SELECT count(*)::int FROM diary WHERE partition = %d AND offs >= 60`, s.other)); n != 80 {
			t.Errorf("the last 40 records took effect %d times together, want twice each", n)
		}
	})
}

// A partition is taken away while the member asks the broker about it. When it comes back, it
// is read.
func TestRevokeWhileTheBrokerIsAsked(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 2, kfake.SleepOutOfOrder())
		produce(t, brokers, 100, 0, 1)
		gate, asked := make(chan struct{}), make(chan struct{}, 100)
		cluster.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			asked <- struct{}{}
			cluster.SleepControl(func() { <-gate })
			return nil, nil, false
		})
		l := newLedger()
		first, second := newSink(t, l), newSink(t, l)
		member := func(sink idem.Sink) (stop func() error) {
			s := open(t, brokers, k)
			return start(t, s, subscription(), sink)
		}
		stopFirst := member(first)
		eventually(t, "the broker is asked", func() bool { return len(asked) > 0 })
		stopSecond := member(second)
		eventually(t, "one is taken away", func() bool { return first.seen("Revoked") == 1 })
		close(gate)
		eventually(t, "each reads one", func() bool { return first.owns() == 1 && second.owns() == 1 && l.count() == 200 })
		if err := stopSecond(); err != nil {
			t.Error(err)
		}
		produce(t, brokers, 100, 0, 1)
		eventually(t, "all is read by the first", func() bool { return l.count() == 400 })
		if err := stopFirst(); err != nil {
			t.Error(err)
		}
	})
}
