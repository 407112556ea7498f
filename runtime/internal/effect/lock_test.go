package effect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

var account = wire.NewLock("accounts", "a-1")

// lockedEffect is an effect whose event has a lock.
func lockedEffect(offset int64, recordKey string, terms *wire.EffectTerms, fn func(context.Context) ([]byte, error)) wire.Effect {
	e := effectOf(offset, recordKey, terms, fn)
	e.Lock = account
	return e
}

// eachStore runs a test with leases in Postgres, and with leases outside of it.
func eachStore(t *testing.T, lasts time.Duration, test func(*testing.T, *bench, *fakeStore, *wire.EffectTerms)) {
	eachBench(t, 4, func(t *testing.T, b *bench, s *fakeStore) {
		test(t, b, s, &wire.EffectTerms{Lease: lasts, Timeout: 5 * time.Second, Keep: time.Hour})
	})
}

// another is a holder of the lock that is none of the process's.
func another(t *testing.T, b *bench, s *fakeStore, owner byte, term time.Duration) lease.Answer {
	t.Helper()
	tokens, _, err := b.postgres.Look(t.Context(), consumer, []wire.Key{account.Key}, 0)
	if err != nil {
		t.Fatal(err)
	}
	ask := lease.Ask{Key: account.Key, Owner: wire.UUID{owner}, Term: term, Keep: time.Hour}
	if s == b.external {
		ask.Token = tokens[0]
	}
	answers, err := s.Store.Acquire(t.Context(), lease.Locks(account.Name), []lease.Ask{ask})
	if err != nil {
		t.Fatal(err)
	}
	return answers[0]
}

func lockState(s *fakeStore) lease.State { return s.States(lease.Locks(account.Name))[account.Key] }

// Two processes of two consumers make calls of events of many record keys, and never two at a time
// for what one lock stands for. Each holder has a greater number than the one before.
func TestOneCallAtATimeUnderALock(t *testing.T) {
	t.Parallel()
	eachStore(t, time.Minute, func(t *testing.T, b *bench, _ *fakeStore, terms *wire.EffectTerms) {
		other := b.beside(NewProcess("another", b.postgres, b.leases(), 4, slog.New(slog.DiscardHandler)))
		var running, most, calls atomic.Int32
		var last atomic.Int64
		fn := func(ctx context.Context) ([]byte, error) {
			d, _ := idemtype.DeliveryFrom(ctx)
			if was := last.Swap(d.Lock.Token); d.Lock.Token <= was || d.Lock.Key != account.Key || d.Lock.Name != account.Name {
				t.Errorf("lock %+v behind token %d", d.Lock, was)
			}
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(3 * time.Millisecond)
			running.Add(-1)
			calls.Add(1)
			return nil, nil
		}
		var all []wire.Effect
		for offset := range int64(6) {
			all = append(all, lockedEffect(offset, fmt.Sprint(offset), terms, fn))
		}
		for _, b := range []*bench{b, other} {
			b.start(t.Context(), all)
		}
		for offset := range int64(6) {
			b.result(offset)
			other.result(offset)
		}
		want(t, "calls", calls.Load(), 12)
		want(t, "at the same time", most.Load(), 1)
	})
}

// Values that are locked apart do not wait for one another, nor does a name for another one.
func TestLocksApart(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	var here atomic.Int32
	all := make(chan struct{})
	var effects []wire.Effect
	for i, l := range []wire.Lock{account, wire.NewLock("accounts", "a-2"), wire.NewLock("documents", "a-1"), wire.NewLock("accounts", "a", "-1")} {
		e := effectOf(int64(i), fmt.Sprint(i), &soon, func(ctx context.Context) ([]byte, error) {
			if here.Add(1) == 4 {
				close(all)
			}
			select {
			case <-all:
				return nil, nil
			case <-ctx.Done():
				t.Error("calls of several locks do not run at the same time")
				return nil, nil
			}
		})
		e.Lock = l
		effects = append(effects, e)
	}
	b.start(t.Context(), effects)
	for i := range effects {
		b.result(int64(i))
	}
}

// A lock is held until the answer is recorded, also by a call that takes longer than the lock
// lasts, and it is free after that.
func TestALockIsHeldUntilTheAnswerIsRecorded(t *testing.T) {
	t.Parallel()
	eachStore(t, 600*time.Millisecond, func(t *testing.T, b *bench, s *fakeStore, terms *wire.EffectTerms) {
		s.refused = func(of string) error {
			if of == consumer {
				want(t, "the lock before the answer is recorded", lockState(s), lease.Processing)
				want(t, "got by another one meanwhile", another(t, b, s, 9, time.Hour).Got, false)
			}
			return nil
		}
		b.start(t.Context(), []wire.Effect{lockedEffect(0, "", terms, func(context.Context) ([]byte, error) {
			time.Sleep(2 * terms.Lease)
			return []byte("r"), nil
		})})
		want(t, "result", string(b.result(0).Result), "r")
		want(t, "the lock afterwards", lockState(s), lease.Failed)
	})
}

// Who waits for a lock has no lease, no attempt and no slot: others go on.
func TestWhoWaitsForALockHoldsNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, time.Minute, func(t *testing.T, b *bench, s *fakeStore, terms *wire.EffectTerms) {
		b.process.slots = make(chan struct{}, 1)
		holder := another(t, b, s, 9, time.Hour)
		var attempt, token atomic.Int64
		asked := make(chan struct{})
		once := sync.OnceFunc(func() { close(asked) })
		s.slow = func(of string) {
			if of == lease.Locks(account.Name) {
				once()
			}
		}
		b.start(t.Context(), []wire.Effect{lockedEffect(0, "k", terms, func(ctx context.Context) ([]byte, error) {
			d, _ := idemtype.DeliveryFrom(ctx)
			attempt.Store(int64(d.Attempt))
			token.Store(d.Lock.Token)
			return nil, nil
		})})
		<-asked
		b.start(t.Context(), []wire.Effect{effectOf(1, "other", terms, answer("r"))})
		want(t, "the other one", string(b.result(1).Result), "r")
		time.Sleep(2 * busyPoll)
		want(t, "attempt", attempt.Load(), 0)
		want(t, "leases of who waits", s.States(consumer)[keyOf(0)], 0)
		end := lease.End{Hold: lease.Hold{Key: account.Key, Owner: wire.UUID{9}, Token: holder.Token}, State: lease.Failed}
		if held, err := s.Store.Record(t.Context(), lease.Locks(account.Name), []lease.End{end}); err != nil || !held[0] {
			t.Fatal(held, err)
		}
		b.result(0)
		want(t, "attempt", attempt.Load(), 1)
		if token.Load() <= holder.Token {
			t.Errorf("token %d behind %d", token.Load(), holder.Token)
		}
	})
}

// A holder that died is waited for until its lock is over.
func TestALockOfADeadHolderIsTakenOver(t *testing.T) {
	t.Parallel()
	eachStore(t, 600*time.Millisecond, func(t *testing.T, b *bench, s *fakeStore, terms *wire.EffectTerms) {
		crash := errors.New("crash")
		ctx := fault.With(t.Context(), func(step string) error {
			if step == fault.AfterCall {
				return crash
			}
			return nil
		})
		var first, second atomic.Int64
		begun := time.Now()
		take := func(to *atomic.Int64) func(context.Context) ([]byte, error) {
			return func(ctx context.Context) ([]byte, error) {
				d, _ := idemtype.DeliveryFrom(ctx)
				to.Store(d.Lock.Token)
				return nil, nil
			}
		}
		b.start(ctx, []wire.Effect{lockedEffect(0, "k", terms, take(&first))})
		if _, err := b.end(0); !errors.Is(err, crash) {
			t.Fatal(err)
		}
		want(t, "the lock of the dead", lockState(s), lease.Processing)
		b.start(t.Context(), []wire.Effect{lockedEffect(1, "other", terms, take(&second))})
		b.result(1)
		if time.Since(begun) < terms.Lease {
			t.Error("the lock was taken over before its time")
		}
		if first.Load() == 0 || second.Load() <= first.Load() {
			t.Errorf("token %d behind %d", second.Load(), first.Load())
		}
	})
}

// A call whose lock is another's hears of it. Its lease is still its own: what it did is recorded,
// and the lock of the other one stays.
func TestALostLockEndsTheCall(t *testing.T) {
	t.Parallel()
	eachStore(t, 600*time.Millisecond, func(t *testing.T, b *bench, s *fakeStore, terms *wire.EffectTerms) {
		taken := make(chan lease.Answer, 1)
		s.lost = func(of string) bool { return of == lease.Locks(account.Name) }
		b.start(t.Context(), []wire.Effect{lockedEffect(0, "", terms, func(ctx context.Context) ([]byte, error) {
			<-ctx.Done()
			want(t, "the cause", context.Cause(ctx), lease.ErrLost)
			for {
				if a := another(t, b, s, 9, time.Hour); a.Got {
					taken <- a
					break
				}
				time.Sleep(time.Millisecond)
			}
			time.Sleep(2 * terms.Lease) // its lease goes on
			ask := lease.Ask{Key: keyOf(0), Owner: wire.UUID{8}, Term: time.Hour, Token: 1 << 40}
			if a, err := s.Store.Acquire(t.Context(), consumer, []lease.Ask{ask}); err != nil || a[0].Got {
				t.Errorf("another one has the lease of a call that runs: %+v, %v", a, err)
			}
			return []byte("done"), nil
		})})
		want(t, "result", string(b.result(0).Result), "done")
		want(t, "the lock of the other one", lockState(s), lease.Processing)
		if d := <-taken; d.Token == 0 {
			t.Error("a lock without a token")
		}
	})
}

// A lock that was lost before the call has no call made under it, which is no attempt.
func TestNoCallUnderALockThatWasLostBefore(t *testing.T) {
	t.Parallel()
	eachStore(t, 300*time.Millisecond, func(t *testing.T, b *bench, s *fakeStore, terms *wire.EffectTerms) {
		var slow, calls atomic.Int32
		s.lost = func(of string) bool { return of == lease.Locks(account.Name) && slow.Load() == 1 }
		s.slow = func(of string) {
			if of == consumer && slow.Add(1) == 1 {
				time.Sleep(terms.Lease)
			}
		}
		b.start(t.Context(), []wire.Effect{lockedEffect(0, "", terms, func(ctx context.Context) ([]byte, error) {
			d, _ := idemtype.DeliveryFrom(ctx)
			want(t, "attempt", d.Attempt, 1)
			calls.Add(1)
			return nil, ctx.Err()
		})})
		b.result(0)
		want(t, "calls", calls.Load(), 1)
		want(t, "leases asked for", slow.Load(), 2)
	})
}

// A call that failed gives its lock back before its pause: another event goes on meanwhile.
func TestAFailedCallGivesItsLockBack(t *testing.T) {
	t.Parallel()
	eachStore(t, time.Minute, func(t *testing.T, b *bench, _ *fakeStore, terms *wire.EffectTerms) {
		failed := make(chan struct{})
		b.start(t.Context(), []wire.Effect{lockedEffect(0, "k", terms, func(ctx context.Context) ([]byte, error) {
			defer close(failed)
			return nil, verdict.RetryAfter(time.Hour, errors.New("not yet"))
		})})
		<-failed
		b.start(t.Context(), []wire.Effect{lockedEffect(1, "other", terms, answer("r"))})
		want(t, "result", string(b.result(1).Result), "r")
		b.quit()
	})
}

// A store that does not answer when a lock is given back is asked again: nobody waits until the
// lock is over.
func TestALockIsGivenBackLater(t *testing.T) {
	t.Parallel()
	eachStore(t, time.Minute, func(t *testing.T, b *bench, s *fakeStore, terms *wire.EffectTerms) {
		var refused atomic.Int32
		s.refused = func(of string) error {
			if of == lease.Locks(account.Name) && refused.Add(1) <= 2 {
				return errDown
			}
			return nil
		}
		b.start(t.Context(), []wire.Effect{lockedEffect(0, "k", terms, answer("r"))})
		b.result(0)
		b.process.Wait(t.Context())
		want(t, "the lock", lockState(s), lease.Failed)
	})
}

// Who leaves the line for a lock before its turn lets nobody pass those before it.
func TestWhoLeavesTheLine(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	second, third := b.beside(b.process), b.beside(b.process)
	running, called := make(chan struct{}), make(chan struct{})
	var over atomic.Bool
	b.start(t.Context(), []wire.Effect{lockedEffect(0, "", &soon, func(context.Context) ([]byte, error) {
		close(running)
		<-called
		over.Store(true)
		return nil, nil
	})})
	<-running
	inLine := func(d *Desk, offset int64, behind *turn) *turn {
		d.Start(t.Context(), []wire.Effect{lockedEffect(offset, "", &soon, func(context.Context) ([]byte, error) {
			want(t, "the first one is over", over.Load(), true)
			return nil, nil
		})}, lease.Decision{})
		for q := &b.process.turns; ; time.Sleep(time.Millisecond) {
			q.mu.Lock()
			last := q.last[account]
			q.mu.Unlock()
			if last != behind && last != nil {
				return last
			}
		}
	}
	mine := inLine(second.desk, 1, b.process.turns.last[account])
	second.quit()
	if _, err := second.end(1); !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	last := inLine(third.desk, 2, mine)
	if last.before == nil {
		t.Fatal("who came third is the first in the line")
	}
	select {
	case <-last.before:
		t.Error("who came third has its turn while the first one's call runs")
	case <-time.After(50 * time.Millisecond):
	}
	close(called)
	third.result(2)
}

// What is no lock halts the partition.
func TestWhatIsNoLock(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	a := another(t, b, b.postgres, 9, time.Hour)
	end := lease.End{Hold: lease.Hold{Key: account.Key, Owner: wire.UUID{9}, Token: a.Token}, State: lease.Done}
	if _, err := b.postgres.Store.Record(t.Context(), lease.Locks(account.Name), []lease.End{end}); err != nil {
		t.Fatal(err)
	}
	b.start(t.Context(), []wire.Effect{lockedEffect(0, "", &soon, answer("r"))})
	_, err := b.end(0)
	if _, is := errors.AsType[*verdict.Halt](err); !is {
		t.Errorf("got %v", err)
	}
}

// A number that does not grow gives no lock outside of Postgres: the next one is drawn past it.
func TestALocksNumberGrows(t *testing.T) {
	t.Parallel()
	b := newOutside(t, 1)
	ask := lease.Ask{Key: account.Key, Owner: wire.UUID{9}, Term: time.Millisecond, Token: 5_000_000}
	if a, err := b.external.Store.Acquire(t.Context(), lease.Locks(account.Name), []lease.Ask{ask}); err != nil || !a[0].Got {
		t.Fatal(a, err)
	}
	var token atomic.Int64
	b.start(t.Context(), []wire.Effect{lockedEffect(0, "", &soon, func(ctx context.Context) ([]byte, error) {
		d, _ := idemtype.DeliveryFrom(ctx)
		token.Store(d.Lock.Token)
		return nil, nil
	})})
	b.result(0)
	if token.Load() <= 5_000_000 {
		t.Errorf("token %d behind 5000000", token.Load())
	}
}
