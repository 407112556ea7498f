package effect

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// trip has two events fail until the effect is tripped, with a pause that outlasts the test.
func trip(t *testing.T, b *bench) {
	t.Helper()
	policy := &wire.FailurePolicy{Retries: 100, InitialBackoff: time.Millisecond, MaxBackoff: time.Hour}
	for i := range int64(enough + 1) {
		e := effectOf(90+i, fmt.Sprint("away", i), &soon, func(context.Context) ([]byte, error) {
			return nil, verdict.RetryAfter(time.Hour, errors.New("503"))
		})
		e.Policy = policy
		b.start(t.Context(), []wire.Effect{e})
	}
	for end := time.Now().Add(time.Minute); b.process.courses.of("E", nil).why() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the effect is not tripped")
		}
	}
}

// While the effect fails for all events, a result that a person gave is recorded, since nothing is
// called; and who may not call has no place in the line for a lock.
func TestWhatNeedsNoCallGoesOnWhileCallsFail(t *testing.T) {
	t.Parallel()
	b := newBench(t, 20)
	letters := b.beside(b.process)
	trip(t, b)
	given := effectOf(1, "a", &soon, func(context.Context) ([]byte, error) { t.Error("called"); return nil, nil })
	letters.desk.Start(t.Context(), []wire.Effect{given}, lease.Decision{Number: 1, Result: []byte("7")})
	want(t, "the result that was given", string(letters.result(1).Result), "7")

	held := another(t, b, b.postgres, 9, time.Minute)
	waits := lockedEffect(2, "b", &soon, answer("r"))
	b.start(t.Context(), []wire.Effect{waits})
	time.Sleep(2 * busyPoll) // it asks, and is refused
	other := lockedEffect(3, "c", &soon, answer("r"))
	other.Event = "Other"
	hold := lease.Hold{Key: account.Key, Owner: wire.UUID{9}, Token: held.Token}
	if _, err := b.postgres.Store.Record(t.Context(), lease.Locks(account.Name), []lease.End{{Hold: hold, State: lease.Failed}}); err != nil {
		t.Fatal(err)
	}
	letters.start(t.Context(), []wire.Effect{other})
	letters.result(3)
}

// Of calls that fail at the same moment one at most is its event's fault, however few retries are
// left.
func TestFailuresAtTheSameMomentDoNotCount(t *testing.T) {
	t.Parallel()
	b := newBench(t, 16)
	var begun atomic.Int32
	goOn, down := make(chan struct{}), atomic.Bool{}
	down.Store(true)
	for i := range int64(16) {
		e := effectOf(i, fmt.Sprint(i), &soon, func(context.Context) ([]byte, error) {
			if !down.Load() {
				return nil, nil
			}
			if begun.Add(1) == 16 {
				close(goOn)
			}
			<-goOn
			return nil, errors.New("500")
		})
		e.Policy = &wire.FailurePolicy{InitialBackoff: 50 * time.Millisecond, MaxBackoff: 50 * time.Millisecond}
		b.start(t.Context(), []wire.Effect{e})
	}
	<-goOn
	down.Store(false)
	dead := 0
	for i := range int64(16) {
		if o, _ := b.end(i); o.Refused != nil {
			dead++
		}
	}
	if dead > 1 {
		t.Errorf("%d events are dead letters", dead)
	}
}

// Nothing is called after an effect of the same record key that halts the partition.
func TestNothingIsCalledBehindAHalt(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	stops := effectOf(1, "a", &soon, func(context.Context) ([]byte, error) { return nil, verdict.Permanent(errors.New("no")) })
	stops.Policy = &wire.FailurePolicy{Stop: true}
	b.start(t.Context(), []wire.Effect{stops, effectOf(2, "a", &soon, func(context.Context) ([]byte, error) {
		t.Error("called behind a halt")
		return nil, nil
	}), effectOf(3, "b", &soon, answer("r"))})
	for _, offset := range []int64{1, 2} {
		if o, err := b.end(offset); err == nil || o.Refused != nil {
			t.Errorf("offset %d: %v %+v", offset, err, o)
		}
	}
	b.result(3)
}

// A letter's call has its turn among many of its record key.
func TestALetterHasItsTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, 8)
	letters := b.beside(b.process)
	var live atomic.Int32
	begun := make(chan struct{})
	var all []wire.Effect
	for i := range int64(100) {
		all = append(all, effectOf(i, "hot", &soon, func(context.Context) ([]byte, error) {
			if live.Add(1) == 1 {
				close(begun)
			}
			time.Sleep(20 * time.Millisecond)
			return nil, nil
		}))
	}
	b.start(t.Context(), all)
	<-begun
	letters.start(t.Context(), []wire.Effect{effectOf(200, "hot", &soon, answer("r"))})
	letters.result(200)
	if n := live.Load(); n > 90 {
		t.Errorf("behind %d of 100 calls", n)
	}
}
