package rig

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
)

// Heard is what hooks heard, a line each.
type Heard struct {
	mu    sync.Mutex
	lines []string
}

// Add adds a line.
func (h *Heard) Add(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

// Text returns all lines.
func (h *Heard) Text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "; ")
}

// Hooks that add to what was heard.
type (
	Span   struct{}
	Spans  struct{ *Heard }
	Events struct{ *Heard }
	Dead   struct{ *Heard }
	States struct {
		*Heard
		C *Consumer
	}
	TakeOvers struct{ *Heard }
	Retries   struct{ *Heard }
	Runs      struct{ *Heard }
)

func (h Spans) OnBatchStart(ctx context.Context, p idem.Partition, records int) context.Context {
	h.Add("start %s/%d %d", p.Topic, p.Number, records)
	return context.WithValue(ctx, Span{}, true)
}

func (h Spans) OnBatchEnd(ctx context.Context, _ idem.Partition, r idem.Result, err error) {
	h.Add("end %+v %v %v", r, err, ctx.Value(Span{}))
}

func (h Events) OnEvents(_ idem.Partition, all []hook.Event) {
	for _, e := range all {
		h.Add("%d %s %s", e.Offset, e.Name, e.Outcome)
	}
}

func (h Dead) OnDeadLetter(_ idem.Partition, d hook.Letter) {
	h.Add("%d %s %t %s", d.Offset, d.Event, d.Conflict, d.Reason)
}

func (h States) OnState(_ idem.Partition, from, to string, why error) {
	h.Add("%s to %s %v", from, to, why)
	if h.C == nil {
		return
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		h.C.Stats()
		_ = h.C.Health()
	}()
	select {
	case <-answered:
	case <-time.After(10 * time.Second):
		h.Add("the consumer does not answer")
	}
}

func (h TakeOvers) OnTakeOver(p idem.Partition, t hook.Taken) {
	h.Add("%s/%d from %d, %d keys, in time %t", p.Topic, p.Number, t.Offset, t.Keys, t.Took > 0)
}

func (h Retries) OnRetry(_ idem.Partition, r hook.Pause) { h.Add("%d %v %v", r.Try, r.Wait, r.Err) }

func (h Runs) OnUpkeep(took time.Duration, err error) { h.Add("%t %v", took > 0, err) }
