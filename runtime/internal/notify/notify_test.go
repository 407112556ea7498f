package notify_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/notify"
)

var quiet = slog.New(slog.DiscardHandler)

type adds struct{ what string }

type key struct{}

func (a adds) OnBatchStart(ctx context.Context, _ idemtype.Partition, _ int) context.Context {
	before, _ := ctx.Value(key{}).(string)
	return context.WithValue(ctx, key{}, before+a.what)
}

type misspelled struct{}

func (misspelled) OnBatchStarted(context.Context) {}

// A second hook gets the context that the first one returned.
func TestHooksAreCalledInTheirOrder(t *testing.T) {
	h, err := notify.New(quiet, []hook.Hook{adds{"a"}, adds{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := h.BatchStart(t.Context(), idemtype.Partition{}, 1)
	if got := ctx.Value(key{}); got != "ab" {
		t.Errorf("the context holds %v, want ab", got)
	}
}

// Nobody would ever call such a hook, and nobody would notice.
func TestHookWithoutAMethodIsRefused(t *testing.T) {
	_, err := notify.New(quiet, []hook.Hook{adds{}, misspelled{}})
	if err == nil || !strings.Contains(err.Error(), "notify_test.misspelled") {
		t.Errorf("got %v, want an error that names the type", err)
	}
}

type both struct{}

func (both) OnUpkeep(time.Duration, error)   {}
func (both) OnRetry(idemtype.Partition, int) {}

type pointers struct{}

func (pointers) OnUpkeep(time.Duration, error)           {}
func (*pointers) OnRetry(idemtype.Partition, hook.Pause) {}

type function func()

func (function) OnUpkeep(time.Duration, error) {}

// A method that nobody would call is an error, although the hook has another one that is right.
func TestHookThatWouldNotHearIsRefused(t *testing.T) {
	for what, test := range map[string]struct {
		hook hook.Hook
		says string
	}{
		"another signature":      {both{}, "notify_test.both has method OnRetry of type func(idemtype.Partition, int): hook.Retry "},
		"the pointer's":          {pointers{}, "OnRetry is a method of its pointer"},
		"a pointer's method":     {&pointers{}, ""},
		"nil":                    {nil, "a hook is nil"},
		"nil of a type":          {(*pointers)(nil), "*notify_test.pointers is nil"},
		"a function":             {function(func() {}), ""},
		"a function that is nil": {function(nil), "notify_test.function is nil"},
	} {
		_, err := notify.New(quiet, []hook.Hook{test.hook})
		if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: got %v, want %q", what, err, test.says)
		}
	}
}

type panics struct{}

func (panics) OnBatchStart(context.Context, idemtype.Partition, int) context.Context {
	panic("secret")
}
func (panics) OnBatchEnd(context.Context, idemtype.Partition, idemtype.Result, error) {
	panic("secret")
}
func (panics) OnEvents(idemtype.Partition, []hook.Event)         { panic("secret") }
func (panics) OnDeadLetter(idemtype.Partition, hook.Letter)      { panic("secret") }
func (panics) OnState(idemtype.Partition, string, string, error) { panic("secret") }
func (panics) OnTakeOver(idemtype.Partition, hook.Taken)         { panic("secret") }
func (panics) OnRetry(idemtype.Partition, hook.Pause)            { panic("secret") }
func (panics) OnCallStart(context.Context, idemtype.Partition) context.Context {
	panic("secret")
}
func (panics) OnCall(context.Context, idemtype.Partition, hook.Ended) { panic("secret") }
func (panics) OnUpkeep(time.Duration, error)                          { panic(errors.New("secret")) }

// tellAll calls every method of the hooks.
func tellAll(ctx context.Context, h *notify.Hooks) context.Context {
	p := idemtype.Partition{}
	ctx = h.BatchStart(ctx, p, 1)
	h.BatchEnd(ctx, p, idemtype.Result{}, nil)
	h.Events(p, []hook.Event{{}})
	h.DeadLetter(p, hook.Letter{})
	h.State(p, "READY", "DOUBT", nil)
	h.TakeOver(p, hook.Taken{})
	h.Retry(p, hook.Pause{})
	ctx = h.CallStart(ctx, p)
	h.Call(ctx, p, hook.Ended{})
	h.Upkeep(0, nil)
	return ctx
}

// A hook that panics neither ends the process nor keeps the next hook from hearing. The log says
// it once for each method, without what the panic was made of.
func TestPanicOfAHookIsLoggedOnceForEachMethod(t *testing.T) {
	var log bytes.Buffer
	h, err := notify.New(slog.New(slog.NewTextHandler(&log, nil)), []hook.Hook{panics{}, adds{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := tellAll(t.Context(), h).Value(key{}); got != "a" {
			t.Errorf("the context of the next hook holds %v, want a", got)
		}
	}
	for _, method := range []string{"BatchStart", "BatchEnd", "Events", "DeadLetter", "State", "TakeOver", "Retry", "Call", "Upkeep"} {
		if n := strings.Count(log.String(), `msg="a hook panicked" hook=notify_test.panics method=On`+method+" "); n != 1 {
			t.Errorf("%d lines of On%s, want 1: %s", n, method, log.String())
		}
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log has the panic's value: %s", log.String())
	}
}

type noContext struct{}

func (noContext) OnBatchStart(context.Context, idemtype.Partition, int) context.Context { return nil }

// A hook that returns no context leaves the batch the one that it had.
func TestHookThatReturnsNoContextIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	h, err := notify.New(slog.New(slog.NewTextHandler(&log, nil)), []hook.Hook{adds{"a"}, noContext{}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if ctx := tellAll(t.Context(), h); ctx == nil || ctx.Value(key{}) != "a" {
			t.Errorf("the context is %v", ctx)
		}
	}
	if n := strings.Count(log.String(), `msg="a hook returned no context" hook=notify_test.noContext method=OnBatchStart`); n != 1 {
		t.Errorf("%d lines, want 1: %s", n, log.String())
	}
}

// A consumer without hooks pays nothing for them.
func TestWithoutHooksNothingIsAllocated(t *testing.T) {
	h, err := notify.New(quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	allocs := testing.AllocsPerRun(100, func() {
		h.BatchStart(ctx, idemtype.Partition{}, 1)
		h.BatchEnd(ctx, idemtype.Partition{}, idemtype.Result{}, nil)
		h.DeadLetter(idemtype.Partition{}, hook.Letter{})
		h.State(idemtype.Partition{}, "READY", "SENT", nil)
		h.Retry(idemtype.Partition{}, hook.Pause{})
	})
	if allocs != 0 || h.WantsEvents() {
		t.Errorf("%v allocations, events wanted: %v", allocs, h.WantsEvents())
	}
}

// calling hears of calls and states only.
type calling map[string]string

func (c calling) OnState(_ idemtype.Partition, from, to string, _ error) {
	c["state"] = from + " to " + to
}

func (c calling) OnCallStart(ctx context.Context, _ idemtype.Partition) context.Context {
	return context.WithValue(ctx, key{}, "call")
}

type startsOnly struct{}

func (startsOnly) OnCallStart(ctx context.Context, _ idemtype.Partition) context.Context {
	return context.WithValue(ctx, key{}, "start")
}

// A hook hears what its methods are for, in the order of their arguments. A nil one is refused.
func TestHookHearsOfCallsAndStates(t *testing.T) {
	heard := calling{}
	h, err := notify.New(quiet, []hook.Hook{heard, startsOnly{}})
	if err != nil {
		t.Fatal(err)
	}
	h.State(idemtype.Partition{}, "READY", "HALTED", nil)
	if ctx := h.CallStart(t.Context(), idemtype.Partition{}); ctx.Value(key{}) != "start" || heard["state"] != "READY to HALTED" {
		t.Errorf("the context has %v, heard %v", ctx.Value(key{}), heard)
	}
	var none calling
	if _, err := notify.New(quiet, []hook.Hook{none}); err == nil || !strings.Contains(err.Error(), "notify_test.calling is nil") {
		t.Errorf("a nil map: %v", err)
	}
}
