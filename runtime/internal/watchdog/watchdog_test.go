package watchdog_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/watchdog"
)

// call makes a call with a context of its own.
func call(w *watchdog.Watch[string], of string, fn func(*watchdog.Context) error) error {
	ctx := new(watchdog.Context)
	return w.Call(of, ctx, func() error { return fn(ctx) })
}

// heard notes what Rules are told of.
type heard struct {
	mu    sync.Mutex
	lines []string
	ended chan struct{} // closed by End
}

func (h *heard) say(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lines)
}

func rules(limit, heed, grace time.Duration) (*heard, watchdog.Rules[string]) {
	h := &heard{ended: make(chan struct{})}
	return h, watchdog.Rules[string]{
		Limit: limit, Heed: heed, Grace: grace,
		Overdue: func(of string) { h.say("overdue " + of) },
		Abandon: func(of string) { h.say("abandon " + of) },
		End: func(of string, abandoned bool) {
			if abandoned {
				of += ", abandoned"
			}
			h.say("end " + of)
			close(h.ended)
		},
	}
}

type watch = watchdog.Watch[string]

// patient are rules under which no call is late.
func patient() watchdog.Rules[string] {
	_, r := rules(time.Hour, time.Hour, 2*time.Hour)
	return r
}

func TestErrorOfTheWorkIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := errors.New("no")
		of, err := watchdog.Run(t.Context(), patient(), func(w *watch) error {
			return errors.Join(call(w, "a", func(*watchdog.Context) error { return nil }), call(w, "b", func(*watchdog.Context) error { return want }))
		})
		if !errors.Is(err, want) || of != "b" {
			t.Errorf("got %q, %v", of, err)
		}
	})
}

func TestCallThatEndsItsGoroutineIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, err := watchdog.Run(t.Context(), patient(), func(w *watch) error {
			return call(w, "a", func(*watchdog.Context) error { runtime.Goexit(); return nil })
		})
		if !errors.Is(err, watchdog.ErrExit) || of != "a" {
			t.Errorf("got %q, %v", of, err)
		}
	})
}

// A test's hook may end its test so.
func TestGoroutineThatEndsOutsideOfACallEndsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan bool)
		go func() {
			came := false
			defer func() { ended <- !came }()
			_, _ = watchdog.Run(t.Context(), patient(), func(*watch) error { runtime.Goexit(); return nil })
			came = true
		}()
		if !<-ended {
			t.Error("Run returned")
		}
	})
}

func explode() { panic("boom") }

func TestPanicGoesOnInTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			p, ok := recover().(*watchdog.Panic)
			if !ok || p.Value != "boom" || !strings.Contains(p.Stack, "explode") {
				t.Errorf("got %+v", p)
			}
		}()
		_, _ = watchdog.Run(t.Context(), patient(), func(*watch) error { explode(); return nil })
	})
}

func TestLateCallIsHeardOfAndReturnsAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := rules(time.Millisecond, time.Millisecond, time.Hour)
		_, err := watchdog.Run(t.Context(), r, func(w *watch) error {
			return call(w, "a", func(*watchdog.Context) error {
				for len(h.all()) == 0 {
					time.Sleep(time.Millisecond)
				}
				return nil
			})
		})
		if want := []string{"overdue a", "end a"}; err != nil || !slices.Equal(h.all(), want) {
			t.Errorf("got %v, %q, want %q", err, h.all(), want)
		}
	})
}

func TestCallThatDoesNotEndIsLeft(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit time.Duration
		over  bool // the work's context is cancelled
	}{{"its own time", time.Millisecond, false}, {"the work's context", time.Hour, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				h, r := rules(c.limit, time.Millisecond, 2*time.Millisecond)
				free, behind := make(chan struct{}), false
				of, err := watchdog.Run(ctx, r, func(w *watch) error {
					err := call(w, "a", func(*watchdog.Context) error {
						if c.over {
							cancel()
						}
						select {
						case <-free:
						case <-time.After(10 * time.Second):
						}
						return nil
					})
					behind = true
					return err
				})
				if !errors.Is(err, watchdog.ErrAbandoned) || of != "a" {
					t.Errorf("got %q, %v", of, err)
				}
				close(free)
				select {
				case <-h.ended:
				case <-time.After(10 * time.Second):
				}
				if want := []string{"overdue a", "abandon a", "end a, abandoned"}; !slices.Equal(h.all(), want) {
					t.Errorf("heard %q, want %q", h.all(), want)
				}
				time.Sleep(10 * time.Millisecond)
				if behind {
					t.Error("the work went on behind a call that was abandoned")
				}
			})
		})
	}
}

func TestEachCallHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r := rules(300*time.Millisecond, time.Hour, 2*time.Hour)
		_, err := watchdog.Run(t.Context(), r, func(w *watch) error {
			err := call(w, "slow", func(ctx *watchdog.Context) error {
				select {
				case <-ctx.Statements().Done():
				case <-time.After(10 * time.Second):
				}
				return errors.Join(expect(ctx.Err(), context.DeadlineExceeded), expect(ctx.Statements().Err(), context.DeadlineExceeded))
			})
			return errors.Join(err, call(w, "next", func(ctx *watchdog.Context) error {
				return errors.Join(expect(ctx.Err(), nil), expect(ctx.Statements().Err(), nil))
			}))
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// Who sees a statement end with the call's time asks the context next.
func TestStatementsEndWhenTheContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 1000 {
			_, r := rules(200*time.Microsecond, time.Hour, 2*time.Hour)
			_, err := watchdog.Run(t.Context(), r, func(w *watch) error {
				return call(w, "a", func(ctx *watchdog.Context) error {
					_ = ctx.Err() // it ends by a clock of its own from here on
					<-ctx.Statements().Done()
					return expect(ctx.Err(), context.DeadlineExceeded)
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func expect(got, want error) error {
	if got != want {
		return errors.New("the context's error is " + errorText(got) + ", want " + errorText(want))
	}
	return nil
}

func errorText(err error) string {
	if err == nil {
		return "nil"
	}
	return err.Error()
}

func TestContextEndsWithTheWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work, cancel := context.WithCancel(t.Context())
		_, _ = watchdog.Run(work, patient(), func(w *watch) error {
			return call(w, "a", func(ctx *watchdog.Context) error {
				derived, stop := context.WithCancel(ctx)
				defer stop()
				cancel()
				<-derived.Done()
				<-ctx.Statements().Done()
				for _, err := range []error{ctx.Err(), derived.Err(), ctx.Statements().Err()} {
					if err != context.Canceled {
						t.Errorf("got %v", err)
					}
				}
				return nil
			})
		})
	})
}

func TestContextEndsWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, asked := range []bool{true, false} { // whether somebody asked before
			var kept *watchdog.Context
			_, _ = watchdog.Run(t.Context(), patient(), func(w *watch) error {
				return call(w, "a", func(ctx *watchdog.Context) error {
					if kept = ctx; asked && ctx.Err() != nil {
						t.Error("it ended early")
					}
					return nil
				})
			})
			kept.End()
			if kept.Err() != context.Canceled {
				t.Errorf("asked before: %v: got %v", asked, kept.Err())
			}
		}
	})
}

type key struct{}

func TestContextHasTheWorksValuesAndTheEarlierDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := time.Now().Add(time.Minute)
		work, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, "v"), end)
		defer cancel()
		_, _ = watchdog.Run(work, patient(), func(w *watch) error {
			return call(w, "a", func(ctx *watchdog.Context) error {
				if got, ok := ctx.Deadline(); !ok || !got.Equal(end) {
					t.Errorf("deadline %v, want %v", got, end)
				}
				for range 2 { // before and after the first question for its end
					if ctx.Value(key{}) != "v" {
						t.Error("the value is lost")
					}
					_ = ctx.Err()
				}
				return nil
			})
		})
	})
}

// Time aside from a call is not the call's: neither its context nor the watchdog counts it, and a
// call in between has its own.
func TestTimeAsideIsNotTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := rules(50*time.Millisecond, time.Millisecond, time.Hour)
		_, err := watchdog.Run(t.Context(), r, func(w *watch) error {
			return call(w, "a", func(ctx *watchdog.Context) error {
				derived, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				began, _ := ctx.Deadline()
				if err := w.Aside(func() error {
					time.Sleep(60 * time.Millisecond)
					return call(w, "b", func(ctx *watchdog.Context) error { time.Sleep(30 * time.Millisecond); return ctx.Err() })
				}); err != nil {
					return err
				}
				if got := h.all(); len(got) > 0 {
					t.Errorf("it was told of %q", got)
				}
				if end, _ := ctx.Deadline(); end.Sub(began) < 90*time.Millisecond || ctx.Over() {
					t.Errorf("the deadline moved by %v", end.Sub(began))
				}
				if err := errors.Join(ctx.Err(), derived.Err()); err != nil {
					return err
				}
				<-derived.Done()
				if err := derived.Err(); err != context.DeadlineExceeded {
					t.Errorf("afterwards: %v", err)
				}
				return nil
			})
		})
		if got := h.all(); err != nil || len(got) > 2 || slices.Contains(got, "overdue b") {
			t.Errorf("got %v, %q", err, got)
		}
	})
}

// The work's deadline is a call's if it comes before the call's own.
func TestLaterDeadlineOfTheWorkIsNotTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := patient()
		work, cancel := context.WithTimeout(t.Context(), 2*rules.Limit)
		defer cancel()
		_, _ = watchdog.Run(work, rules, func(w *watch) error {
			return call(w, "a", func(ctx *watchdog.Context) error {
				if got, ok := ctx.Deadline(); !ok || !got.Equal(time.Now().Add(rules.Limit)) {
					t.Errorf("deadline in %v, want %v", time.Until(got), rules.Limit)
				}
				return nil
			})
		})
	})
}
