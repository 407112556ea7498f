package notify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/notify"
)

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
	h, err := notify.New([]hook.Hook{adds{"a"}, adds{"b"}})
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
	_, err := notify.New([]hook.Hook{adds{}, misspelled{}})
	if err == nil || !strings.Contains(err.Error(), "notify_test.misspelled") {
		t.Errorf("got %v, want an error that names the type", err)
	}
}

// A consumer without hooks pays nothing for them.
func TestWithoutHooksNothingIsAllocated(t *testing.T) {
	h, err := notify.New(nil)
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
