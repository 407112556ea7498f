package effect

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// inBubble runs a test with leases in Postgres and outside of it, in time of its own. log is what
// the process logs.
func inBubble(t *testing.T, test func(t *testing.T, b *bench, s *fakeStore, log *transcript.Buffer)) {
	t.Helper()
	t.Parallel()
	for _, outside := range []bool{false, true} {
		t.Run(map[bool]string{false: "Postgres", true: "outside"}[outside], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, 4)
				s := b.postgres
				if outside {
					b = newOutside(t, 4)
					s = b.external
				}
				log := &transcript.Buffer{}
				b.process.Log = slog.New(slog.NewTextHandler(log, nil))
				test(t, b, s, log)
				b.quit()
				b.process.Wait(context.Background())
			})
		})
	}
}

// A crash at a step of an effect leaves its lock and its lease as they were: both expire, and
// nobody extends them.
func TestCrashLeavesLockAndLease(t *testing.T) {
	crash := errors.New("crash")
	for _, test := range []struct {
		step        string
		lock, lease lease.State
		calls       int
	}{
		{fault.BeforeLease, 0, 0, 0},
		{fault.AfterLock, lease.Processing, 0, 0},
		{fault.AfterLease, lease.Processing, lease.Processing, 0},
		{fault.AfterCall, lease.Processing, lease.Processing, 1},
		{fault.AfterDone, lease.Processing, lease.Done, 1},
	} {
		t.Run(test.step, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench, s *fakeStore, _ *transcript.Buffer) {
				calls := 0
				ctx := fault.With(t.Context(), func(step string) error {
					if step == test.step {
						return crash
					}
					return nil
				})
				terms := soon
				b.start(ctx, []wire.Effect{lockedEffect(0, "k", &terms, func(context.Context) ([]byte, error) {
					calls++
					return []byte("r"), nil
				})})
				o, err := b.end(0)
				want(t, "error", err, crash)
				want(t, "dead letter", o.Refused, nil)
				want(t, "calls", calls, test.calls)
				want(t, "the lock", lockState(s), test.lock)
				want(t, "the lease", s.States(consumer)[keyOf(0)], test.lease)
				want(t, "the lock is another's at once", another(t, b, s, 8, terms.Lease).Got, test.lock == 0)
				time.Sleep(2 * terms.Lease)
				want(t, "the lock is another's in the end", another(t, b, s, 9, terms.Lease).Got, true)
				calls = 0
				b.start(t.Context(), []wire.Effect{effectOf(0, "k", &terms, func(context.Context) ([]byte, error) {
					calls++
					return []byte("again"), nil
				})})
				result := "again"
				if test.lease == lease.Done {
					result = "r"
				}
				want(t, "result", string(b.result(0).Result), result)
				want(t, "calls", calls, map[bool]int{true: 0, false: 1}[test.lease == lease.Done])
			})
		})
	}
}

// A crash at a result that is found ends the effect without it, and gives its lock back.
func TestCrashAtAFoundResult(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench, s *fakeStore, _ *transcript.Buffer) {
		b.start(t.Context(), []wire.Effect{effectOf(0, "k", &soon, answer("r"))})
		b.result(0)
		b.desk.Reset()
		crash := errors.New("crash")
		ctx := fault.With(t.Context(), func(step string) error {
			if step == fault.AfterFound {
				return crash
			}
			return nil
		})
		b.start(ctx, []wire.Effect{lockedEffect(0, "k", &soon, answer("again"))})
		_, err := b.end(0)
		want(t, "error", err, crash)
		want(t, "the lock", lockState(s), lease.Failed)
	})
}

// A call that failed pauses its effect, for the longest pause at most, and the log says when the
// event itself is called again. A call that succeeds does neither.
func TestFailedCallPausesItsEffect(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench, s *fakeStore, log *transcript.Buffer) {
		began := time.Now()
		failing := effectOf(0, "", &soon, func(context.Context) ([]byte, error) {
			return nil, verdict.RetryAfter(time.Hour, errors.New("too many requests"))
		})
		policy := *failing.Policy
		policy.MaxBackoff = 10 * time.Second
		failing.Policy = &policy
		b.start(t.Context(), []wire.Effect{failing})
		synctest.Wait()
		all := b.process.Stats().Failing
		if len(all) != 1 || all[0].Event != "E" || all[0].Err != "too many requests" || all[0].Calls != 1 || !all[0].Since.Equal(began) ||
			!all[0].Next.Equal(began.Add(10*time.Second)) {
			t.Errorf("failing: %+v", all)
		}
		said := func(text string, n int) {
			t.Helper()
			if got := strings.Count(log.String(), text); got != n {
				t.Errorf("%q is said %d times, want %d: %s", text, got, n, log.String())
			}
		}
		said("an effect keeps failing", 1)
		said(`err="too many requests" calls=1 since=2000-01-01T00:00:00Z next=1h0m0s`, 1)
		time.Sleep(2 * time.Minute)
		b.start(t.Context(), []wire.Effect{effectOf(1, "", &soon, answer("r"))})
		b.result(1)
		want(t, "failing effects", len(b.process.Stats().Failing), 0)
		said("an effect keeps failing", 1)
		said("an effect succeeds again", 1)
	})
}

// A call that outlasts its context is told of while it does, by the log and by Late, with its
// record. It keeps its lease meanwhile.
func TestCallThatOutlastsItsContextIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench, s *fakeStore, log *transcript.Buffer) {
		terms := soon
		terms.Timeout = time.Second
		began := time.Now()
		outlasts := func(d time.Duration) func(context.Context) ([]byte, error) {
			return func(ctx context.Context) ([]byte, error) {
				<-ctx.Done()
				time.Sleep(d)
				return []byte("r"), nil
			}
		}
		b.start(t.Context(), []wire.Effect{effectOf(7, "", &terms, outlasts(5*time.Second)), effectOf(8, "", &terms, outlasts(heed-time.Millisecond))})
		const tells, ends = `level=ERROR msg="an effect is still running after its context ended" topic=t partition=0 event=E offset=7`,
			`level=INFO msg="an effect that ignored its context has ended" topic=t partition=0 event=E offset=7`
		told := func(when string, lines int, late int) {
			t.Helper()
			if n := strings.Count(log.String(), "\n"); n != lines {
				t.Errorf("%s: %d lines, want %d: %s", when, n, lines, log.String())
			}
			if n := len(b.process.Late()); n != late {
				t.Errorf("%s: %d calls are late, want %d", when, n, late)
			}
		}
		time.Sleep(terms.Timeout + heed - time.Millisecond/2)
		told("at first", 0, 0)
		time.Sleep(time.Millisecond)
		told("then", 1, 1)
		p := b.process.Late()[0]
		if p.Code != "effect-running" || p.Topic != "t" || p.Partition != 0 || !p.Since.Equal(began.Add(terms.Timeout+heed)) || p.Err.Error() != p.Reason ||
			!strings.HasPrefix(p.Reason, "effect E, offset 7, is still running after its context ended at 2000-01-01T00:00:01Z") {
			t.Errorf("late: %+v", p)
		}
		time.Sleep(2 * time.Second)
		want(t, "the lease", s.States(consumer)[keyOf(7)], lease.Processing)
		want(t, "result", string(b.result(7).Result), "r")
		want(t, "result", string(b.result(8).Result), "r")
		told("in the end", 2, 0)
		if !strings.Contains(log.String(), tells) || !strings.Contains(log.String(), ends) {
			t.Errorf("told: %s", log.String())
		}
	})
}

// A call that may have been made by a commit that is gone is an operator's to judge, if it must
// not be repeated. A store outside of the database has lost nothing, so it decides.
func TestStoreOutsideLosesNoCall(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench, s *fakeStore, _ *transcript.Buffer) {
		b.lostTo = 1
		terms := soon
		terms.Interrupts = true
		calls := 0
		call := func(context.Context) ([]byte, error) {
			calls++
			return []byte("r"), nil
		}
		b.start(t.Context(), []wire.Effect{effectOf(0, "", &terms, call)})
		o, err := b.end(0)
		want(t, "error", err, nil)
		if s == b.external {
			want(t, "result", string(o.Result.Result), "r")
			want(t, "calls", calls, 1)
			return
		}
		want(t, "calls", calls, 0)
		want(t, "the lease", s.States(consumer)[keyOf(0)], lease.Interrupted)
		if o.Refused == nil || !o.Interrupted {
			t.Errorf("got %+v", o)
		}
	})
}

// A letter's call of the same record key waits while another call runs, however long, and not
// while that one waits for its next attempt.
func TestLetterWaitsForACallOnlyWhileItRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench, s *fakeStore, _ *transcript.Buffer) {
		letters := b.beside(b.process)
		began := time.Now()
		b.start(t.Context(), []wire.Effect{effectOf(1, "a", &soon, func(context.Context) ([]byte, error) {
			time.Sleep(5 * time.Second)
			return nil, verdict.RetryAfter(time.Hour, errors.New("too many requests"))
		})})
		time.Sleep(time.Second)
		var called time.Duration
		letters.start(t.Context(), []wire.Effect{effectOf(0, "a", &soon, func(context.Context) ([]byte, error) {
			called = time.Since(began)
			return nil, nil
		})})
		letters.result(0)
		if called < 5*time.Second || called > 6*time.Second {
			t.Errorf("the letter's call began after %v", called)
		}
	})
}

// If the decoder of a result panics, the result is not recorded, and the process continues.
func TestADecoderThatPanics(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench, _ *fakeStore, _ *transcript.Buffer) {
		e := effectOf(0, "", &soon, answer("r"))
		e.Read = func([]byte) error { panic("of a bug") }
		b.start(t.Context(), []wire.Effect{e})
		o, err := b.end(0)
		if err != nil || o.Refused == nil || !strings.Contains(o.Refused.Reason, "its result cannot be recorded: the decoder panicked: a value of type string") {
			t.Errorf("%+v, %v", o.Refused, err)
		}
	})
}
