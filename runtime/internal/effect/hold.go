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

// hold is a lease that a task has acquired, and its store.
type hold struct {
	lease.Hold
	at    *store
	since time.Time // it lasts at least from this time on
}

// acquire requests the lease in Postgres, if the service has no other store or if Postgres already
// has a lease of the key. Otherwise it requests the lease in the other store, with a token drawn
// by Postgres.
func (t *task) acquire(ctx context.Context) (lease.Answer, hold, error) {
	p := t.desk.process
	if t.owner == (wire.UUID{}) {
		t.owner = newOwner()
	}
	ask, at := t.ask(t.owner), p.postgres
	if p.external != nil {
		s, err := p.look.do(ctx, t.key)
		if err != nil {
			return lease.Answer{}, hold{}, err
		}
		if !s.here {
			ask.Token, at = s.token, p.external
		}
	}
	asked := time.Now()
	a, err := at.acquire.do(ctx, ask)
	if err != nil { // the store may have granted it nevertheless: the next ask has the same owner
		return a, hold{}, err
	}
	t.owner = wire.UUID{}
	t.sight.note(a)
	since := asked.Add(min(0, a.Wait-ask.Term)) // it may have been granted to an earlier ask
	return a, hold{lease.Hold{Key: t.key, Owner: ask.Owner, Token: a.Token}, at, since}, nil
}

// store records an end, and retries until the store responds: if a result is not recorded, its
// call may be made twice. It gives up when the owner has given up and the lease has expired. An
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
		if t.desk.owner.Quit.Err() != nil && time.Now().After(over) {
			return false, t.desk.owner.Quit.Err()
		}
		time.Sleep(backoff.Pause(try, backoff.Initial, time.Second))
	}
}

func isBroken(err error) bool {
	_, is := errors.AsType[*lease.Broken](err)
	return is
}

func (t *task) broken(err error) error { return brokenAt(t.message.Offset, err) }

// brokenAt returns a halt before a record: retrying does not repair what a store contains.
func brokenAt(offset int64, err error) error {
	return &verdict.Halt{Code: halt.Database, Offset: offset, Reason: "the lease store", Err: err}
}

func unanswered(err error) error {
	return fmt.Errorf("cannot query the lease store: %w", verdict.Describe(err))
}
