package effect_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

type endedCalls struct{ *rig.Heard }

func (h endedCalls) OnCall(_ context.Context, p idem.Partition, c hook.Ended) {
	took := ""
	if c.Took <= 0 {
		took = " in no time"
	}
	h.Add("%s/%d %d %s %d %s%s", p.Topic, p.Number, c.Offset, c.Event, c.Attempt, c.Outcome, took)
}

// Each call that ended is told and counted by what came of it.
func TestCallsOfEffectsAreToldAndCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call  func(db func(sql string), ctx context.Context, nth int) error
		told  string
		stats [4]int64 // done, failed, interrupted, lost
	}{
		"done": {func(func(string), context.Context, int) error { return nil }, "1 done", [4]int64{1}},
		"failed": {func(_ func(string), _ context.Context, nth int) error {
			return firstOnly(idem.NotDone(errors.New("refused")))(nth)
		}, "1 failed; 2 done", [4]int64{1, 1}},
		"interrupted": {func(func(string), context.Context, int) error { return idem.Interrupted(errors.New("cut off")) }, "1 interrupted", [4]int64{0, 0, 1}},
		"lost": {func(exec func(string), ctx context.Context, nth int) error {
			if nth == 1 {
				exec(`UPDATE idem_lease SET owner = gen_random_uuid(), fence = nextval('idem_fence'), interrupts = false, expires_at = clock_timestamp()`)
				<-ctx.Done()
			}
			return nil
		}, "1 lost; 2 done", [4]int64{1, 0, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			p := rig.Provider{Call: func(ctx context.Context, _ int32, nth int) error {
				return c.call(func(sql string) { idemtest.Exec(t, db, sql) }, ctx, nth)
			}}
			h := &rig.Heard{}
			s := p.Service(rig.Interrupts)
			if name == "lost" { // else the call that may have been made is a letter
				s = p.Service(rig.Terms)
			}
			s.Options = []idem.Option{idem.WithHooks(endedCalls{h})}
			consumer := s.Consumer(t, db)
			rig.Apply(t, rig.Own(t, consumer), rig.Records(0, "a: effect 1"))
			rig.Want(t, "told", strings.ReplaceAll(h.Text(), rig.Topic+"/0 0 Test ", ""), c.told)
			n := consumer.Stats().Calls
			rig.Want(t, "counted", [4]int64{n.Done, n.Failed, n.Interrupted, n.Lost}, c.stats)
			rig.Want(t, "still running or waiting", n.Running+n.Waiting, 0)
		})
	}
}

// While calls run, Stats says how many, for how long, and how many records wait.
func TestStatsOfRunningCalls(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var consumer *rig.Consumer
	var during [3]int64
	p := rig.Provider{Call: func(context.Context, int32, int) error {
		time.Sleep(20 * time.Millisecond)
		s := consumer.Stats().Calls
		during = [3]int64{int64(s.Running), int64(s.Waiting), int64(s.Oldest / (20 * time.Millisecond))}
		return nil
	}}
	consumer = p.Service(rig.Terms).Consumer(t, db)
	rig.Apply(t, rig.Own(t, consumer), rig.Records(0, "a: effect 1"))
	rig.Want(t, "running and waiting", during[0]*10+during[1], 11)
	if during[2] < 1 {
		t.Error("the oldest call runs for no time")
	}
}

// A panic leaves open what the call did.
func TestEffectThatPanics(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	p := rig.Provider{Call: func(context.Context, int32, int) error { panic("secret") }}
	rig.Apply(t, rig.Own(t, p.Service(rig.Interrupts).Consumer(t, db)), rig.Records(0, "a: effect 1"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 interrupted")
}
