package effect_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// eachOutcome runs a test for both values of if_interrupted.
func eachOutcome(t *testing.T, name string, test func(t *testing.T, terms wire.EffectTerms)) {
	for what, terms := range map[string]wire.EffectTerms{"retry": rig.Terms, "dead_letter": rig.Interrupts} {
		t.Run(name+", "+what, func(t *testing.T) {
			t.Parallel()
			test(t, terms)
		})
	}
}

// The lease of a dead holder ends once it was seen unchanged for its term, however the database's
// clock has jumped, and not by a clock that is wrong.
func TestLeaseOfADeadHolderEndsWhateverTheClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]struct{ held, then time.Duration }{
		"the clock went back":        {0, -time.Hour},
		"the clock was ahead":        {time.Hour, 0},
		"the clock is a day ahead":   {24 * time.Hour, 24 * time.Hour},
		"the clock is a day behind":  {-24 * time.Hour, -24 * time.Hour},
		"the clock went a day ahead": {0, 24 * time.Hour},
	} {
		eachOutcome(t, name, func(t *testing.T, terms wire.EffectTerms) {
			db := rig.Database(t)
			clock := rig.FakeClocks(t, db)
			clock.Database(t, ahead.held)
			var p rig.Provider
			s := p.Service(terms)
			if _, err := rig.Own(t, s.Consumer(t, db)).Apply(fault.With(t.Context(), rig.Lose(fault.AfterCall)), rig.Records(0, "a: effect 1")); err == nil {
				t.Fatal("no crash")
			}
			clock.Database(t, ahead.then)
			w, asked := rig.Own(t, s.Consumer(t, db)), time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), terms.Term()+15*time.Second)
			defer cancel()
			if _, err := w.Apply(ctx, rig.Records(0, "a: effect 1")); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(asked); took < terms.Term() {
				t.Errorf("it ended after %v of %v", took, terms.Term())
			}
			calls, letter := 2, ""
			if terms.Interrupts {
				calls, letter = 1, "0 interrupted"
			}
			rig.Want(t, "calls", p.Count(1), calls)
			rig.Want(t, "dead letters", rig.Letters(t, db), letter)
		})
	}
}

// A live holder loses no lease to a clock that jumps and returns: one call, and its result counts.
func TestLiveHolderKeepsItsLeaseWhateverTheClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]struct{ acquired, extended, asked time.Duration }{
		"a day ahead while another asks": {0, 0, 24 * time.Hour},
		"behind when it was acquired":    {-time.Hour, 0, 0},
		"behind when it was extended":    {0, -time.Hour, 0},
	} {
		eachOutcome(t, name, func(t *testing.T, terms wire.EffectTerms) {
			db := rig.Database(t)
			clock := rig.FakeClocks(t, db)
			clock.Database(t, ahead.acquired)
			terms.Lease = 6 * time.Second
			called, goOn := make(chan struct{}), make(chan struct{})
			p := rig.Provider{Call: func(context.Context, int32, int) error {
				close(called)
				<-goOn
				return nil
			}}
			s := p.Service(terms)
			first, ended := rig.Own(t, s.Consumer(t, db)), make(chan error, 1)
			go func() {
				_, err := first.Apply(context.WithoutCancel(t.Context()), rig.Records(0, "a: effect 1"))
				ended <- err
			}()
			<-called
			if ahead.extended != 0 {
				clock.Database(t, ahead.extended)
				at := rig.Query(t, db, `SELECT expires_at::text FROM idem_lease`)
				rig.Within(t, "a heartbeat", func() bool { return rig.Query(t, db, `SELECT expires_at::text FROM idem_lease`) != at })
			}
			c := s.Consumer(t, db)
			second, applied := rig.Own(t, c), make(chan error, 1)
			clock.Database(t, ahead.asked)
			go func() {
				_, err := second.Apply(t.Context(), rig.Records(0, "a: effect 1"))
				applied <- err
			}()
			rig.Within(t, "another one asks", func() bool { return c.Stats().Calls.Waiting == 1 })
			time.Sleep(600 * time.Millisecond) // it asks at least twice, before the next heartbeat
			rig.Want(t, "leases while it calls", rig.Query(t, db, `SELECT string_agg(state::text || ' ' || attempts, ', ') FROM idem_lease`), "p 1")
			clock.Database(t, 0)
			close(goOn)
			if err := <-applied; err != nil {
				t.Fatal(err)
			}
			<-ended // fenced
			rig.Want(t, "calls", p.Count(1), 1)
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
			rig.Want(t, "rows", rig.Table(t, db), "1=1")
		})
	}
}
