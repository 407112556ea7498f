package intake

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A partition that awaits a record is taken over when one arrives or its topic has changed, and
// asks the sink again if what it was permitted no longer holds. Earlier records do not count.
func TestWaitForARecordEnds(t *testing.T) {
	idle := slices.Repeat([]string{"Idle -1"}, 10) // once a minute
	for name, test := range map[string]struct {
		idle error // what the sink answers meanwhile
		then func(d *Delivery)
		want []string // calls since then, in ten minutes
	}{
		"nothing happens":      {nil, func(*Delivery) {}, idle},
		"a record arrives":     {nil, (*Delivery).RecordArrived, append([]string{"Assigned"}, idle[:9]...)},
		"the topic changes":    {nil, (*Delivery).TakeOverAgain, append([]string{"Assigned"}, idle[:9]...)},
		"another owner comes":  {&idemtype.FencedError{}, func(*Delivery) {}, []string{"Idle -1", "Standby"}},
		"it halts":             {&idemtype.HaltedError{}, func(*Delivery) {}, []string{"Idle -1", "Standby"}},
		"the database is away": {errors.New("away"), func(*Delivery) {}, idle},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := &fakeSink{idle: func(int64) error { return test.idle }, deliver: func(context.Context, []wire.Message) error { return &idemtype.FencedError{} }}
				sink.assigned = from(4)
				asked := 0
				sink.standby = func(ctx context.Context) (idemtype.TakeOver, error) {
					if asked++; asked == 2 {
						return idemtype.TakeOver{}, errors.New("no answer")
					}
					if asked > 1 {
						<-ctx.Done()
						return idemtype.TakeOver{}, ctx.Err()
					}
					return idemtype.TakeOver{At: idemtype.Position{Offset: 9}}, nil
				}
				d, stop := run(t, testConfig(sink))
				d.Queue.Open(reported(t, d, Reading).version)
				d.RecordArrived() // not one that is awaited
				d.Queue.Put(&wire.Message{}, 1)
				time.Sleep(time.Second)
				reported(t, d, StandingBy)
				if accepted, _ := d.Queue.Put(&wire.Message{}, 1); accepted {
					t.Error("a record is accepted in standby")
				}
				if r := reported(t, d, AwaitingRecord); r.at.Offset != 9 {
					t.Errorf("a record at %d is awaited, want 9", r.at.Offset)
				}
				before := []string{"Assigned", "Deliver 1", "Standby"}
				called(t, sink, before...)
				test.then(d)
				for range 1200 { // its reports are read
					time.Sleep(500 * time.Millisecond)
					_, _ = d.Report()
				}
				synctest.Wait()
				got, want := sink.noted(), slices.Concat(before, test.want)
				if test.idle != nil && slices.Equal(got, append(want, "Standby")) { // it was asked again
					got = want
				}
				if !slices.Equal(got, want) {
					t.Errorf("calls %v, want %v", got, want)
				}
				stop()
				if got := sink.noted(); got[len(got)-1] != "Revoked" {
					t.Errorf("at the end, calls %v", got)
				}
			})
		})
	}
}

// A partition that is given up while a take-over or a standby is tried again ends at once, and no
// call of the sink comes after that.
func TestGivingUpEndsWhatIsTriedAgain(t *testing.T) {
	for name, sink := range map[string]*fakeSink{
		"take-over": {assigned: func(context.Context) (idemtype.Position, error) { return idemtype.Position{}, errors.New("away") }},
		"standby": {
			assigned: func(context.Context) (idemtype.Position, error) { return idemtype.Position{}, &idemtype.HaltedError{} },
			standby:  func(context.Context) (idemtype.TakeOver, error) { return idemtype.TakeOver{}, errors.New("away") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, stop := run(t, testConfig(sink))
				for range 80 {
					time.Sleep(500 * time.Millisecond)
					_, _ = d.Report()
				}
				tries := sink.noted()
				n := len(tries)
				if n < 9 || n > 20 { // 40 s, with pauses of 1, 2, 4, 4, 4... s, or down to half of them
					t.Errorf("%d tries in 40 s: %v", n, tries)
				}
				start := time.Now()
				stop()
				if took := time.Since(start); took > 0 || len(sink.noted()) != n+1 {
					t.Errorf("it ended after %v with %v", took, sink.noted()[n:])
				}
			})
		})
	}
}

// An epoch that went down is reported once. The next record is then read where the sink says.
func TestOldEpochIsToldOnce(t *testing.T) {
	c, q := cursorAt(Reading, 0)
	for i, step := range []struct {
		offset int64
		epoch  int32
		want   Outcome
	}{{0, 0, Accepted}, {1, 3, NewEpoch}, {1, 3, Dropped}} {
		if got := c.Accept(&wire.Message{Offset: step.offset, LeaderEpoch: step.epoch}, 1); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
	c.Apply(Report{State: Reading, at: idemtype.Position{Offset: 1, Epoch: 3}, leader: 3, version: q.Reset()})
	c.Begin()
	for i, want := range []Outcome{OldEpoch, Dropped} {
		if got := c.Accept(&wire.Message{Offset: 1, LeaderEpoch: 2}, 1); got != want {
			t.Errorf("an older epoch, time %d: %v, want %v", i, got, want)
		}
	}
	if got := c.ReachedEnd(9); got != Dropped || c.Next != 1 {
		t.Errorf("an end in doubt: %v, next %d", got, c.Next)
	}
	c.Apply(Report{State: Reading, at: idemtype.Position{Offset: 1, Epoch: 3}, leader: 3, version: q.Reset()})
	c.Begin()
	if got := c.ReachedEnd(1); got != Accepted || q.End() != 1 || c.At() != (idemtype.Position{Offset: 1, Epoch: 3}) {
		t.Errorf("an end at the position: %v, the queue ends at %d, at %v", got, q.End(), c.At())
	}
	if got := c.ReachedEnd(4); got != Accepted || q.End() != 4 || c.At() != (idemtype.Position{Offset: 4, Epoch: -1}) {
		t.Errorf("an end behind it: %v, the queue ends at %d, at %v", got, q.End(), c.At())
	}
	if got := c.ReachedEnd(2); got != Accepted || q.End() != 4 || c.At().Offset != 4 {
		t.Errorf("an earlier end: %v, the queue ends at %d, at %v", got, q.End(), c.At())
	}
}
