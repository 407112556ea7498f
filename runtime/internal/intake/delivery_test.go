package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// fakeSink notes what a delivery calls, and answers with what a test says. What it does not
// say is not called.
type fakeSink struct {
	idemtype.Sink
	journal
	next     int64 // after the last record that was delivered
	assigned func(context.Context) (idemtype.Position, error)
	deliver  func(context.Context, []wire.Message) error
	standby  func(context.Context) (idemtype.TakeOver, error)
	idle     func(end int64) error
}

// A journal has what was called, in order. A test reads it while a delivery runs.
type journal struct {
	mu    sync.Mutex
	calls []string
}

func (j *journal) note(call string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls = append(j.calls, call)
}

// noted returns the calls up to now.
func (j *journal) noted() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.calls)
}

func (s *fakeSink) Assigned(ctx context.Context, _ idemtype.Assignment) (idemtype.Position, error) {
	s.note("Assigned")
	return s.assigned(ctx)
}

func (s *fakeSink) Deliver(ctx context.Context, _ idemtype.Partition, records []wire.Message) error {
	s.note(fmt.Sprintf("Deliver %d", len(records)))
	s.next = records[len(records)-1].Offset + 1
	return s.deliver(ctx, records)
}

func (s *fakeSink) Standby(ctx context.Context, _ idemtype.Partition) (idemtype.TakeOver, error) {
	s.note("Standby")
	return s.standby(ctx)
}

func (s *fakeSink) Idle(_ context.Context, _ idemtype.Partition, end int64) error {
	s.note(fmt.Sprintf("Idle %d", end))
	return s.idle(end)
}

func (s *fakeSink) Lost(idemtype.Partition) { s.note("Lost") }

func (s *fakeSink) Revoked(idemtype.Partition) idemtype.Commit {
	s.note("Revoked")
	return idemtype.Commit{Offset: s.next}
}

// from answers a take-over with an offset.
func from(offset int64) func(context.Context) (idemtype.Position, error) {
	return func(context.Context) (idemtype.Position, error) {
		return idemtype.Position{Offset: offset, Epoch: -1}, nil
	}
}

func delivers(context.Context, []wire.Message) error { return nil }

func idles(int64) error { return nil }

const testTopic = "orders.v1"

// testConfig is a config whose broker answers.
func testConfig(sink idemtype.Sink) *Config {
	return &Config{
		Sink: sink, Log: slog.New(slog.DiscardHandler),
		Describe: func(_ context.Context, p idemtype.Partition) (idemtype.Assignment, error) {
			return idemtype.Assignment{Partition: p, Partitions: 3}, nil
		},
		Limits:  Limits{Records: 2, Bytes: 1 << 20, Wait: time.Millisecond, FetchBytes: fetchBytes},
		Backoff: time.Second, MaxBackoff: 4 * time.Second,
		Idle:     time.Minute,
		Reported: NewSignal(), Demand: NewSignal(),
	}
}

// run runs a delivery until the test's bubble ends, or stop is called.
func run(t *testing.T, c *Config) (d *Delivery, stop func()) {
	d = NewDelivery(t.Context(), c, idemtype.Partition{Topic: testTopic}, nil)
	go d.Run()
	return d, func() {
		d.End()
		d.GiveUp(false)
	}
}

// reported waits for a report of a state.
func reported(t *testing.T, d *Delivery, want State) Report {
	t.Helper()
	synctest.Wait()
	r, ok := d.Report()
	if !ok || r.State != want {
		t.Fatalf("reported %v (%v), want state %v", r, ok, want)
	}
	return r
}

// called fails unless the sink's calls were these.
func called(t *testing.T, s *fakeSink, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := s.noted(); !slices.Equal(got, want) {
		t.Errorf("calls %v, want %v", got, want)
	}
}

func TestRecordsAreDeliveredInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{assigned: from(7), deliver: delivers}
		d, stop := run(t, testConfig(sink))
		r := reported(t, d, Reading)
		c := NewCursor(d.Queue)
		if !c.Apply(r) || c.Start.Offset != 7 || c.Topic.Partitions != 3 {
			t.Errorf("the cursor is %+v", c)
		}
		c.Begin()
		for offset := range int64(3) {
			c.Accept(&wire.Message{Offset: 7 + offset}, 1)
		}
		time.Sleep(time.Second)
		if d.Durable().Offset != -1 {
			t.Errorf("before the end, durable below %d", d.Durable().Offset)
		}
		stop()
		if d.Durable().Offset != 10 {
			t.Errorf("durable below %d, want 10", d.Durable().Offset)
		}
		called(t, sink, "Assigned", "Deliver 2", "Deliver 1", "Revoked")
	})
}

// Of a broker or a database that does not answer, the pauses grow up to a limit.
func TestTakeOverIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, failures := time.Now(), 6
		sink := &fakeSink{}
		sink.assigned = func(ctx context.Context) (idemtype.Position, error) {
			if failures--; failures >= 0 {
				return idemtype.Position{}, errors.New("no answer")
			}
			return from(0)(ctx)
		}
		d, stop := run(t, testConfig(sink))
		defer stop()
		<-d.config.Reported
		if waited := time.Since(begun); waited < 19*time.Second/2 || waited > 19*time.Second {
			t.Errorf("%v for 6 failures, want 1+2+4+4+4+4 s, or down to half of it", waited)
		}
	})
}

func TestIdlePartitionIsAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{assigned: from(5), idle: idles}
		d, stop := run(t, testConfig(sink))
		d.Queue.Open(reported(t, d, Reading).version)
		time.Sleep(90 * time.Second)
		d.Queue.ReachedEnd(8)
		time.Sleep(60 * time.Second)
		stop()
		called(t, sink, "Assigned", "Idle -1", "Idle 8", "Revoked")
	})
}

func TestFencedPartitionAwaitsARecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{}
		sink.assigned = func(ctx context.Context) (idemtype.Position, error) {
			if len(sink.noted()) == 1 {
				return idemtype.Position{}, &idemtype.FencedError{}
			}
			return from(9)(ctx)
		}
		sink.standby = func(context.Context) (idemtype.TakeOver, error) {
			return idemtype.TakeOver{At: idemtype.Position{Offset: 9}}, nil
		}
		d, stop := run(t, testConfig(sink))
		reported(t, d, StandingBy)
		if r := reported(t, d, AwaitingRecord); r.at.Offset != 9 {
			t.Errorf("a record at %d is awaited, want 9", r.at.Offset)
		}
		called(t, sink, "Assigned", "Standby")
		d.RecordArrived()
		reported(t, d, TakingOver)
		reported(t, d, Reading)
		stop()
		called(t, sink, "Assigned", "Standby", "Assigned", "Revoked")
	})
}

// A partition is taken over again, in which records are delivered: what the queue holds is
// dropped, and what polling puts before it hears of it.
func TestPositionInDoubtIsAskedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{assigned: from(0), deliver: delivers}
		c := testConfig(sink)
		c.Limits.Wait = time.Second
		d, stop := run(t, c)
		first := reported(t, d, Reading)
		d.Queue.Open(first.version)
		d.Queue.Put(&wire.Message{}, 1)
		d.TakeOverAgain()
		reported(t, d, TakingOver)
		reported(t, d, Reading)
		d.Queue.Open(first.version)
		if accepted, _ := d.Queue.Put(&wire.Message{}, 1); accepted {
			t.Error("a record was accepted at the position before")
		}
		stop()
		called(t, sink, "Assigned", "Assigned", "Revoked")
	})
}

// A batch whose delivery has begun may end; it is stopped when the sink has been told.
func TestDeliveryOutlivesTheAssignment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{assigned: from(0)}
		stopped := false
		sink.deliver = func(ctx context.Context, _ []wire.Message) error {
			<-ctx.Done()
			stopped = slices.Contains(sink.noted(), "Lost")
			return ctx.Err()
		}
		d, _ := run(t, testConfig(sink))
		d.Queue.Open(reported(t, d, Reading).version)
		d.Queue.Put(&wire.Message{}, 1)
		time.Sleep(time.Second)
		d.End()
		time.Sleep(time.Hour)
		called(t, sink, "Assigned", "Deliver 1")
		d.GiveUp(true)
		if called(t, sink, "Assigned", "Deliver 1", "Lost"); !stopped {
			t.Error("the delivery was stopped before the sink was told")
		}
	})
}

// A take-over ends before the sink is told that the partition is gone. It holds a lock, for
// which no bubble lets time pass.
func TestGiveUpWaitsForATakeOver(t *testing.T) {
	sink, begun := &fakeSink{}, make(chan struct{})
	sink.assigned = func(ctx context.Context) (idemtype.Position, error) {
		close(begun)
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond)
		sink.note("ended")
		return idemtype.Position{}, ctx.Err()
	}
	_, stop := run(t, testConfig(sink))
	<-begun
	stop()
	if want := []string{"Assigned", "ended", "Revoked"}; !slices.Equal(sink.noted(), want) {
		t.Errorf("calls %v, want %v", sink.noted(), want)
	}
}

// A second delivery that is given up does not tell the sink so while the first one is being taken
// over.
func TestGiveUpWaitsForTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{}
		sink.assigned = func(ctx context.Context) (idemtype.Position, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			sink.note("ended")
			return idemtype.Position{}, ctx.Err()
		}
		c := testConfig(sink)
		first, _ := run(t, c)
		synctest.Wait()
		first.End()
		second := NewDelivery(t.Context(), c, first.Partition, first.Over())
		go second.Run()
		second.End()
		given := make(chan struct{})
		go func() { second.GiveUp(true); close(given) }()
		synctest.Wait()
		called(t, sink, "Assigned")
		time.Sleep(2 * time.Second)
		first.GiveUp(false)
		<-given
		if calls := sink.noted(); !slices.Equal(calls[:3], []string{"Assigned", "ended", "Revoked"}) || calls[len(calls)-1] != "Lost" {
			t.Errorf("calls %v", calls)
		}
	})
}

func TestDeliveryWaitsForTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{assigned: from(0)}
		c := testConfig(sink)
		first, stop := run(t, c)
		reported(t, first, Reading)
		second := NewDelivery(t.Context(), c, first.Partition, first.Over())
		go second.Run()
		time.Sleep(time.Second)
		called(t, sink, "Assigned")
		stop()
		called(t, sink, "Assigned", "Revoked", "Assigned")
		second.End()
		second.GiveUp(false)
	})
}
