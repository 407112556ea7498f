package idem_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

// database sets the database's clock alone.
func (c *clocks) database(t *testing.T, ahead time.Duration) {
	t.Helper()
	idemtest.Exec(t, c.db, `UPDATE fake.clock SET ahead = $1`, ahead)
}

// eachOutcome runs a test for both values of if_interrupted.
func eachOutcome(t *testing.T, name string, test func(t *testing.T, terms wire.EffectTerms)) {
	for what, terms := range map[string]wire.EffectTerms{"retry": terms, "dead_letter": interrupts} {
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
			db := database(t)
			clock := fakeClocks(t, db)
			clock.database(t, ahead.held)
			var p provider
			s := p.service(terms)
			if _, err := own(t, s.consumer(t, db)).Apply(fault.With(t.Context(), lose(fault.AfterCall)), records(0, "a: effect 1")); err == nil {
				t.Fatal("no crash")
			}
			clock.database(t, ahead.then)
			w, asked := own(t, s.consumer(t, db)), time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), terms.Term()+15*time.Second)
			defer cancel()
			if _, err := w.Apply(ctx, records(0, "a: effect 1")); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(asked); took < terms.Term() {
				t.Errorf("it ended after %v of %v", took, terms.Term())
			}
			calls, letter := 2, ""
			if terms.Interrupts {
				calls, letter = 1, "0 interrupted"
			}
			want(t, "calls", p.count(1), calls)
			want(t, "dead letters", letters(t, db), letter)
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
			db := database(t)
			clock := fakeClocks(t, db)
			clock.database(t, ahead.acquired)
			terms.Lease = 6 * time.Second
			called, goOn := make(chan struct{}), make(chan struct{})
			p := provider{call: func(context.Context, int32, int) error {
				close(called)
				<-goOn
				return nil
			}}
			s := p.service(terms)
			first, ended := own(t, s.consumer(t, db)), make(chan error, 1)
			go func() {
				_, err := first.Apply(context.WithoutCancel(t.Context()), records(0, "a: effect 1"))
				ended <- err
			}()
			<-called
			if ahead.extended != 0 {
				clock.database(t, ahead.extended)
				at := query(t, db, `SELECT expires_at::text FROM idem_lease`)
				within(t, "a heartbeat", func() bool { return query(t, db, `SELECT expires_at::text FROM idem_lease`) != at })
			}
			c := s.consumer(t, db)
			second, applied := own(t, c), make(chan error, 1)
			clock.database(t, ahead.asked)
			go func() {
				_, err := second.Apply(t.Context(), records(0, "a: effect 1"))
				applied <- err
			}()
			within(t, "another one asks", func() bool { return c.Stats().Calls.Waiting == 1 })
			time.Sleep(600 * time.Millisecond) // it asks at least twice, before the next heartbeat
			want(t, "leases while it calls", query(t, db, `SELECT string_agg(state::text || ' ' || attempts, ', ') FROM idem_lease`), "p 1")
			clock.database(t, 0)
			close(goOn)
			if err := <-applied; err != nil {
				t.Fatal(err)
			}
			<-ended // fenced
			want(t, "calls", p.count(1), 1)
			want(t, "dead letters", letters(t, db), "")
			want(t, "rows", table(t, db), "1=1")
		})
	}
}
