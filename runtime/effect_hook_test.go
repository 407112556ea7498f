package idem_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

type calls struct{ *heard }

func (h calls) OnCall(p idem.Partition, c hook.Ended) {
	took := "at once"
	if c.Took >= 20*time.Millisecond {
		took = "slowly"
	}
	h.add("%s/%d %d %s %d %s %s", p.Topic, p.Number, c.Offset, c.Event, c.Attempt, c.Outcome, took)
}

// Each call that ended is told and counted by what came of it.
func TestCallsOfEffectsAreToldAndCounted(t *testing.T) {
	for name, c := range map[string]struct {
		call  func(db func(sql string), ctx context.Context, nth int) error
		told  string
		stats [4]int64 // done, failed, interrupted, lost
	}{
		"done":        {func(func(string), context.Context, int) error { time.Sleep(20 * time.Millisecond); return nil }, "1 done slowly", [4]int64{1}},
		"failed":      {func(_ func(string), _ context.Context, nth int) error { return firstOnly(errors.New("refused"))(nth) }, "1 failed at once; 2 done at once", [4]int64{1, 1}},
		"interrupted": {func(func(string), context.Context, int) error { return idem.Interrupted(errors.New("cut off")) }, "1 interrupted at once", [4]int64{0, 0, 1}},
		"lost": {func(exec func(string), ctx context.Context, nth int) error {
			if nth == 1 {
				exec(`UPDATE idem_lease SET owner = gen_random_uuid(), fence = nextval('idem_fence'), interrupts = false, expires_at = clock_timestamp()`)
				<-ctx.Done()
			}
			return nil
		}, "1 lost slowly; 2 done at once", [4]int64{1, 0, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			p := provider{call: func(ctx context.Context, _ int32, nth int) error {
				return c.call(func(sql string) { idemtest.Exec(t, db, sql) }, ctx, nth)
			}}
			h := &heard{}
			consumer := p.service(interrupts).consumer(t, db, idem.WithHooks(calls{h}))
			apply(t, own(t, consumer), records(0, "a: effect 1"))
			want(t, "told", strings.ReplaceAll(h.text(), topic+"/0 0 Effect ", ""), c.told)
			s := consumer.Stats().Calls
			want(t, "counted", [4]int64{s.Done, s.Failed, s.Interrupted, s.Lost}, c.stats)
			want(t, "still running or waiting", s.Running+s.Waiting, 0)
		})
	}
}

// While calls run, Stats says how many, for how long, and how many records wait.
func TestStatsOfRunningCalls(t *testing.T) {
	db := database(t)
	var consumer *idem.Consumer
	var during [3]int64
	p := provider{call: func(context.Context, int32, int) error {
		time.Sleep(20 * time.Millisecond)
		s := consumer.Stats().Calls
		during = [3]int64{int64(s.Running), int64(s.Waiting), int64(s.Oldest / (20 * time.Millisecond))}
		return nil
	}}
	consumer = p.service(terms).consumer(t, db)
	apply(t, own(t, consumer), records(0, "a: effect 1"))
	want(t, "running and waiting", during[0]*10+during[1], 11)
	if during[2] < 1 {
		t.Error("the oldest call runs for no time")
	}
}
