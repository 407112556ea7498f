package idem_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

// heard is what hooks heard, a line each.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) add(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "; ")
}

type (
	span   struct{}
	spans  struct{ *heard }
	events struct{ *heard }
	dead   struct{ *heard }
	states struct {
		*heard
		c *idem.Consumer
	}
	takeOvers struct{ *heard }
	retries   struct{ *heard }
	runs      struct{ *heard }
)

func (h spans) OnBatchStart(ctx context.Context, p idem.Partition, records int) context.Context {
	h.add("start %s/%d %d", p.Topic, p.Number, records)
	return context.WithValue(ctx, span{}, true)
}

func (h spans) OnBatchEnd(ctx context.Context, _ idem.Partition, r idem.Result, err error) {
	h.add("end %+v %v %v", r, err, ctx.Value(span{}))
}

func (h events) OnEvents(_ idem.Partition, all []hook.Event) {
	for _, e := range all {
		h.add("%d %s %s", e.Offset, e.Name, e.Outcome)
	}
}

func (h dead) OnDeadLetter(_ idem.Partition, d hook.Letter) {
	h.add("%d %s %t %s", d.Offset, d.Event, d.Conflict, d.Reason)
}

func (h states) OnState(_ idem.Partition, from, to string, why error) {
	h.add("%s to %s %v", from, to, why)
	if h.c == nil {
		return
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		h.c.Stats()
		_ = h.c.Health()
	}()
	select {
	case <-answered:
	case <-time.After(10 * time.Second):
		h.add("the consumer does not answer")
	}
}

func (h takeOvers) OnTakeOver(p idem.Partition, t hook.Taken) {
	h.add("%s/%d from %d, %d keys, in time %t", p.Topic, p.Number, t.Offset, t.Keys, t.Took > 0)
}

func (h retries) OnRetry(_ idem.Partition, r hook.Pause) { h.add("%d %v %v", r.Try, r.Wait, r.Err) }

func (h runs) OnUpkeep(took time.Duration, err error) { h.add("%t %v", took > 0, err) }

// A batch hook sees every batch around its transaction, and handlers get its context.
func TestBatchHooksSeeEveryBatch(t *testing.T) {
	t.Parallel()
	h, inHandler := &heard{}, false
	c := service{
		handle: func(ctx context.Context, _ idem.Tx, _ int32) error {
			inHandler = ctx.Value(span{}) != nil
			return nil
		},
		options: []idem.Option{idem.WithHooks(spans{h})},
	}.consumer(t, database(t))
	if err := newSource(records(0, "put 1 1", "call 1", "nonsense x")).run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "hooks", h.text(), "start test.v1/0 3; end {Applied:2 Duplicates:0 Conflicts:0 Dead:1 Waiting:0 Ignored:0} <nil> true")
	want(t, "context in the handler", inHandler, true)
}

// Batch hooks hear of batches without a Source, too: around each call of Apply.
func TestBatchHooksSeeBatchesOfAWriter(t *testing.T) {
	t.Parallel()
	h := &heard{}
	c := service{options: []idem.Option{idem.WithHooks(spans{h})}}.consumer(t, database(t))
	w := own(t, c)
	apply(t, w, records(0, "put 1 1"))
	apply(t, w, records(0, "put 1 1", "put 2 2"))
	want(t, "hooks", h.text(), "start test.v1/0 1; end {Applied:1 Duplicates:0 Conflicts:0 Dead:0 Waiting:0 Ignored:0} <nil> true; "+
		"start test.v1/0 2; end {Applied:1 Duplicates:1 Conflicts:0 Dead:0 Waiting:0 Ignored:0} <nil> true")
}

// Event hooks hear of every record that was decoded, and what became of it.
func TestEventHooksHearEveryOutcome(t *testing.T) {
	t.Parallel()
	h := &heard{}
	c := service{options: []idem.Option{idem.WithHooks(events{h})}}.consumer(t, database(t))
	apply(t, own(t, c), records(0, "k: put 1 1", "k: put 1 1", "k: put 1 2", "j: skip 1", "l: nonsense x", "m: put 2 2000"))
	want(t, "hooks", h.text(), "0 Test applied; 1 Test duplicate; 2 Test conflict; 3 Test ignored; 4 Test dead; 5 Test dead")
}

// A transaction whose reply was lost is told once, when it is known to stand.
func TestEventHooksHearOfALostReplyOnce(t *testing.T) {
	t.Parallel()
	h := &heard{}
	c := service{options: []idem.Option{idem.WithHooks(events{h})}}.consumer(t, database(t))
	w := own(t, c)
	if _, err := w.Apply(fault.With(t.Context(), lose(fault.Reply)), records(0, "k: put 1 1")); err == nil {
		t.Fatal("the reply was not lost")
	}
	want(t, "hooks while it is in doubt", h.text(), "")
	apply(t, w, records(0, "k: put 1 1"))
	want(t, "hooks", h.text(), "0 Test applied")
}

// Dead letters are told with the reason that their row has.
func TestDeadLetterHooksHearTheReason(t *testing.T) {
	t.Parallel()
	h, db := &heard{}, database(t)
	c := service{options: []idem.Option{idem.WithHooks(dead{h})}}.consumer(t, db)
	apply(t, own(t, c), records(0, "k: put 1 1", "nonsense x", "k: put 1 2"))
	want(t, "hooks", h.text(), query(t, db, `SELECT string_agg(format('%s Test %s %s', offs, CASE WHEN key IS NULL THEN 'false' ELSE 'true' END, reason), '; ' ORDER BY offs) FROM idem_dead_letter`))
}

// State hooks hear the steps in their order, and may ask the consumer.
func TestStateHooksHearStepsInOrder(t *testing.T) {
	t.Parallel()
	h := &heard{}
	hear := &states{heard: h}
	c := service{options: []idem.Option{idem.WithHooks(hear)}}.consumer(t, database(t))
	hear.c = c
	if err := newSource(records(0, "put 1 1")).run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "hooks", h.text(), "OFF to FENCING <nil>; FENCING to READY <nil>; READY to OFF <nil>")
}

// Each step that a state hook hears begins where the last one ended, although batches come and
// go between: a gauge of states adds up.
func TestStateHooksHearAChainOfStates(t *testing.T) {
	t.Parallel()
	h := &heard{}
	c := service{policy: wire.FailurePolicy{Stop: true}, options: []idem.Option{idem.WithHooks(&states{heard: h})}}.consumer(t, database(t))
	sink := drive(t, c)
	assign(t, sink, 0)
	deliver(t, sink, records(0, "put 1 1"))
	halted := wantError[*idem.HaltedError](t, sink.Deliver(t.Context(), first, records(1, "nonsense x")))
	sink.Revoked(first)
	want(t, "hooks", h.text(), fmt.Sprintf("OFF to FENCING <nil>; FENCING to READY <nil>; READY to HALTED %v; HALTED to OFF <nil>", halted))
}

// A take-over is told with the position, and with the keys that were loaded.
func TestTakeOverHooksHearPositionAndKeys(t *testing.T) {
	t.Parallel()
	h, db := &heard{}, database(t)
	s := service{edit: func(s *wire.Service) { s.Topics[0].Chain = time.Hour }, options: []idem.Option{idem.WithHooks(takeOvers{h})}}
	apply(t, own(t, s.consumer(t, db)), records(0, "@k: put 1 1", "@l: put 2 2"))
	own(t, s.consumer(t, db))
	want(t, "hooks", h.text(), "test.v1/0 from 0, 0 keys, in time true; test.v1/0 from 2, 2 keys, in time true")
}

// A retry is told with its pause and the error.
func TestRetryHooksHearPauseAndError(t *testing.T) {
	t.Parallel()
	h, calls := &heard{}, 0
	c := service{
		handle: func(context.Context, idem.Tx, int32) error {
			if calls++; calls == 1 {
				return idem.RetryAfter(time.Millisecond, errors.New("not now"))
			}
			return nil
		},
		options: []idem.Option{idem.WithHooks(retries{h})},
	}.consumer(t, database(t))
	if err := newSource(records(0, "call 1")).run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "hooks", h.text(), "1 1ms handler Test, offset 0: not now")
}

// Each run of the upkeep is told.
func TestUpkeepHooksHearEachRun(t *testing.T) {
	t.Parallel()
	h := &heard{}
	c := service{options: []idem.Option{idem.WithHooks(runs{h})}}.consumer(t, database(t))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, silentSource{}) }()
	for h.text() == "" && t.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	want(t, "hooks", h.text(), "true <nil>")
}

// silentSource has no partition.
type silentSource struct{}

func (silentSource) Run(ctx context.Context, _ idem.Subscription, _ idem.Sink) error {
	<-ctx.Done()
	return ctx.Err()
}

// A value that no hook interface fits is a mistake that nobody would notice.
func TestNewRefusesAHookWithoutMethods(t *testing.T) {
	t.Parallel()
	_, err := idem.New(database(t), wire.Service{}, idem.WithHooks(&heard{}))
	if err == nil || !strings.Contains(err.Error(), "*idem_test.heard") {
		t.Errorf("got %v, want an error that names the type", err)
	}
}

// mistaken panics when it is told of a transaction.
type mistaken struct{}

func (mistaken) OnEvents(idem.Partition, []hook.Event)    { panic("events") }
func (mistaken) OnDeadLetter(idem.Partition, hook.Letter) { panic("dead") }

// A hook that panics is in the log; its partition goes on, and what it was told of stands.
func TestPanicOfAHookLeavesThePartitionAtWork(t *testing.T) {
	t.Parallel()
	log, option := logged()
	c := service{options: []idem.Option{option, idem.WithHooks(mistaken{})}}.consumer(t, database(t))
	sink := drive(t, c)
	assign(t, sink, 0)
	deliver(t, sink, records(0, "put 1 1", "nonsense x"))
	deliver(t, sink, records(2, "put 2 2"))
	want(t, "durable", sink.Durable(first).Offset, 3)
	want(t, "lines", strings.Count(log.String(), "a hook panicked"), 2)
}

// A panic of the runtime halts the partition in whatever state it is, and is the reason that
// people read. What had committed before it stands.
func TestPanicOfTheRuntimeIsTheReason(t *testing.T) {
	t.Parallel()
	c := service{options: []idem.Option{idem.WithLogger(slog.New(panicsAtLetters{slog.DiscardHandler}))}}.consumer(t, database(t))
	w := own(t, c)
	_, err := w.Apply(t.Context(), records(0, "put 1 1", "nonsense x")) // committed, and READY, when it is logged
	halted := wantError[*idem.HaltedError](t, err)
	want(t, "code", halted.Code, halt.Runtime)
	want(t, "reason", halted.Reason, "the runtime panicked: please report it")
	want(t, "position", own(t, c).Next(), 2)
}

// panicsAtLetters is a log that panics where a dead letter is logged, as a bug there would.
type panicsAtLetters struct{ slog.Handler }

func (panicsAtLetters) Enabled(context.Context, slog.Level) bool { return true }

func (p panicsAtLetters) WithAttrs([]slog.Attr) slog.Handler { return p }

func (panicsAtLetters) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelWarn {
		panic("a bug")
	}
	return nil
}
