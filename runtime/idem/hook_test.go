package idem_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A batch hook sees every batch around its transaction, and handlers get its context.
func TestBatchHooksSeeEveryBatch(t *testing.T) {
	t.Parallel()
	h, inHandler := &rig.Heard{}, false
	c := rig.Service{
		Handle: func(ctx context.Context, _ idem.Tx, _ int32) error {
			inHandler = ctx.Value(rig.Span{}) != nil
			return nil
		},
		Options: []idem.Option{idem.WithHooks(rig.Spans{Heard: h})},
	}.Consumer(t, rig.Database(t))
	if err := rig.NewSource(rig.Records(0, "put 1 1", "call 1", "nonsense x")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "hooks", h.Text(), "start test.v1/0 3; end {Applied:2 Duplicates:0 Conflicts:0 Dead:1 Waiting:0 Ignored:0} <nil> true")
	rig.Want(t, "context in the handler", inHandler, true)
}

// Batch hooks hear of batches without a Source, too: around each call of Apply.
func TestBatchHooksSeeBatchesOfAWriter(t *testing.T) {
	t.Parallel()
	h := &rig.Heard{}
	c := rig.Service{Options: []idem.Option{idem.WithHooks(rig.Spans{Heard: h})}}.Consumer(t, rig.Database(t))
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "put 1 1"))
	rig.Apply(t, w, rig.Records(0, "put 1 1", "put 2 2"))
	rig.Want(t, "hooks", h.Text(), "start test.v1/0 1; end {Applied:1 Duplicates:0 Conflicts:0 Dead:0 Waiting:0 Ignored:0} <nil> true; "+
		"start test.v1/0 2; end {Applied:1 Duplicates:1 Conflicts:0 Dead:0 Waiting:0 Ignored:0} <nil> true")
}

// Event hooks hear of every record that was decoded, and what became of it.
func TestEventHooksHearEveryOutcome(t *testing.T) {
	t.Parallel()
	h := &rig.Heard{}
	c := rig.Service{Options: []idem.Option{idem.WithHooks(rig.Events{Heard: h})}}.Consumer(t, rig.Database(t))
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "k: put 1 1", "k: put 1 1", "k: put 1 2", "j: skip 1", "l: nonsense x", "m: put 2 2000"))
	rig.Want(t, "hooks", h.Text(), "0 Test applied; 1 Test duplicate; 2 Test conflict; 3 Test ignored; 4 Test dead; 5 Test dead")
}

// A transaction whose reply was lost is told once, when it is known to stand.
func TestEventHooksHearOfALostReplyOnce(t *testing.T) {
	t.Parallel()
	h := &rig.Heard{}
	c := rig.Service{Options: []idem.Option{idem.WithHooks(rig.Events{Heard: h})}}.Consumer(t, rig.Database(t))
	w := rig.Own(t, c)
	if _, err := w.Apply(fault.With(t.Context(), rig.Lose(fault.Reply)), rig.Records(0, "k: put 1 1")); err == nil {
		t.Fatal("the reply was not lost")
	}
	rig.Want(t, "hooks while it is in doubt", h.Text(), "")
	rig.Apply(t, w, rig.Records(0, "k: put 1 1"))
	rig.Want(t, "hooks", h.Text(), "0 Test applied")
}

// Dead letters are told with the reason that their row has.
func TestDeadLetterHooksHearTheReason(t *testing.T) {
	t.Parallel()
	h, db := &rig.Heard{}, rig.Database(t)
	c := rig.Service{Options: []idem.Option{idem.WithHooks(rig.Dead{Heard: h})}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "k: put 1 1", "nonsense x", "k: put 1 2"))
	rig.Want(t, "hooks", h.Text(), rig.Query(t, db, `SELECT string_agg(format('%s Test %s %s', offs, CASE WHEN key IS NULL THEN 'false' ELSE 'true' END, reason), '; ' ORDER BY offs) FROM idem_dead_letter`))
}

// State hooks hear the steps in their order, and may ask the consumer.
func TestStateHooksHearStepsInOrder(t *testing.T) {
	t.Parallel()
	h := &rig.Heard{}
	hear := &rig.States{Heard: h}
	c := rig.Service{Options: []idem.Option{idem.WithHooks(hear)}}.Consumer(t, rig.Database(t))
	hear.C = c
	if err := rig.NewSource(rig.Records(0, "put 1 1")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "hooks", h.Text(), "OFF to FENCING <nil>; FENCING to READY <nil>; READY to OFF <nil>")
}

// Each step that a state hook hears begins where the last one ended, although batches come and
// go between: a gauge of states adds up.
func TestStateHooksHearAChainOfStates(t *testing.T) {
	t.Parallel()
	h := &rig.Heard{}
	c := rig.Service{Policy: wire.FailurePolicy{Stop: true}, Options: []idem.Option{idem.WithHooks(&rig.States{Heard: h})}}.Consumer(t, rig.Database(t))
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
	halted := rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(1, "nonsense x")))
	sink.Revoked(rig.First)
	rig.Want(t, "hooks", h.Text(), fmt.Sprintf("OFF to FENCING <nil>; FENCING to READY <nil>; READY to HALTED %v; HALTED to OFF <nil>", halted))
}

// A take-over is told with the position, and with the keys that were loaded.
func TestTakeOverHooksHearPositionAndKeys(t *testing.T) {
	t.Parallel()
	h, db := &rig.Heard{}, rig.Database(t)
	s := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].Chain = time.Hour }, Options: []idem.Option{idem.WithHooks(rig.TakeOvers{Heard: h})}}
	rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(0, "@k: put 1 1", "@l: put 2 2"))
	rig.Own(t, s.Consumer(t, db))
	rig.Want(t, "hooks", h.Text(), "test.v1/0 from 0, 0 keys, in time true; test.v1/0 from 2, 2 keys, in time true")
}

// A retry is told with its pause and the error.
func TestRetryHooksHearPauseAndError(t *testing.T) {
	t.Parallel()
	h, calls := &rig.Heard{}, 0
	c := rig.Service{
		Handle: func(context.Context, idem.Tx, int32) error {
			if calls++; calls == 1 {
				return idem.RetryAfter(time.Millisecond, errors.New("not now"))
			}
			return nil
		},
		Options: []idem.Option{idem.WithHooks(rig.Retries{Heard: h})},
	}.Consumer(t, rig.Database(t))
	if err := rig.NewSource(rig.Records(0, "call 1")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "hooks", h.Text(), "1 1ms handler Test, offset 0: not now")
}

// Each run of the upkeep is told.
func TestUpkeepHooksHearEachRun(t *testing.T) {
	t.Parallel()
	h := &rig.Heard{}
	c := rig.Service{Options: []idem.Option{idem.WithHooks(rig.Runs{Heard: h})}}.Consumer(t, rig.Database(t))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, silentSource{}) }()
	for h.Text() == "" && t.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "hooks", h.Text(), "true <nil>")
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
	_, err := idem.New(rig.Database(t), wire.Service{}, idem.WithHooks(&rig.Heard{}))
	if err == nil || !strings.Contains(err.Error(), "*rig.Heard") {
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
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option, idem.WithHooks(mistaken{})}}.Consumer(t, rig.Database(t))
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1", "nonsense x"))
	rig.Deliver(t, sink, rig.Records(2, "put 2 2"))
	rig.Want(t, "durable", sink.Durable(rig.First).Offset, 3)
	rig.Want(t, "lines", strings.Count(log.String(), "a hook panicked"), 2)
}

// A panic of the runtime halts the partition in whatever state it is, and is the reason that
// people read. What had committed before it stands.
func TestPanicOfTheRuntimeIsTheReason(t *testing.T) {
	t.Parallel()
	c := rig.Service{Options: []idem.Option{idem.WithLogger(slog.New(panicsAtLetters{slog.DiscardHandler}))}}.Consumer(t, rig.Database(t))
	w := rig.Own(t, c)
	_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "nonsense x")) // committed, and READY, when it is logged
	halted := rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "code", halted.Code, halt.Runtime)
	rig.Want(t, "reason", halted.Reason, "the runtime panicked: please report it")
	rig.Want(t, "position", rig.Own(t, c).Next(), 2)
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
