package effect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// hold is a lease that a task got, and where.
type hold struct {
	lease.Hold
	at    *store
	since time.Time // it lasts from then on at least
}

// acquire asks for the lease where it is: in Postgres, if the service was given no other store or
// Postgres has one of the key already. Else outside of it, with a number that Postgres drew.
func (t *task) acquire(ctx context.Context) (lease.Answer, hold, error) {
	p := t.desk.process
	if t.owner == (wire.UUID{}) {
		t.owner = newOwner()
	}
	ask, at := t.ask(t.owner), p.postgres
	if p.external != nil {
		s, err := p.look.do(ctx, lookup{t.key, t.skip})
		if err != nil {
			return lease.Answer{}, hold{}, err
		}
		if !s.here {
			ask.Token, at = s.token, p.external
		}
	}
	asked := time.Now()
	a, err := at.acquire.do(ctx, ask)
	if err != nil { // a store may have done it all the same: it is asked again under this owner
		return a, hold{}, err
	}
	t.owner, t.skip = wire.UUID{}, 0
	if a.Stale {
		t.skip = past(a, ask)
	}
	since := asked.Add(min(0, a.Wait-ask.Term)) // it may be had since an earlier ask
	return a, hold{lease.Hold{Key: t.key, Owner: ask.Owner, Token: a.Token}, at, since}, nil
}

// mostSkipped is how many numbers are left out at once where the store knows greater ones than
// Postgres drew, as after a fail-over that lost some.
const mostSkipped = 100_000

// store records an end, and asks again until the store has answered: a result that is not recorded
// is a call that may be made twice. It gives up when the owner does and the lease is over. An
// error is the outcome of the task.
func (t *task) store(ctx context.Context, h *hold, end lease.End) (held bool, err error) {
	over := time.Now().Add(t.effect.Terms.Term())
	for try := 1; ; try++ {
		end.Hold = h.Hold
		held, err := h.at.record.do(ctx, end)
		switch {
		case err == nil:
			t.tell(nil)
			return held, nil
		case isBroken(err):
			return false, t.broken(err)
		}
		t.tell(unanswered(err))
		if t.desk.quit.Err() != nil && time.Now().After(over) {
			return false, t.desk.quit.Err()
		}
		time.Sleep(backoff.Pause(try, backoff.Initial, time.Second))
	}
}

func isBroken(err error) bool {
	_, is := errors.AsType[*lease.Broken](err)
	return is
}

func (t *task) broken(err error) error { return brokenAt(t.message.Offset, err) }

// brokenAt halts the partition before a record: trying again does not mend what a store holds.
func brokenAt(offset int64, err error) error {
	return &verdict.Halt{Code: halt.Database, Offset: offset, Reason: "the lease store", Err: err}
}

func unanswered(err error) error {
	return fmt.Errorf("cannot query the lease store: %w", verdict.Describe(err))
}
