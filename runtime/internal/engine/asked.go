package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// asked begins the effect of a letter that is replayed, as who asked decided. A result that was
// given is recorded only if the record can be decided with it.
func (t *transaction) asked(ctx context.Context, d *decide.Decision) error {
	l, waiting := t.settles.Letter, slices.Clone(d.Waiting) // the next decision takes their place
	if t.settles.Gives() {
		if err := t.fits(d.Known); err != nil {
			return err
		}
	}
	result := l.Result
	if result == nil {
		result = l.Returned // the store may have forgotten it
	}
	t.desk().StartBy(ctx, waiting, lease.Decision{Number: l.Number, Result: result})
	return &awaitsEffect{l.Offset, waiting[0].Event}
}

// fits refuses a result that is none of the letter's effect. One that has no result takes any,
// whereas one that has a result never takes null.
func (t *transaction) fits(known *keys.Known) error {
	given := t.settles.Letter.Result
	if why := t.refuses(known, given); why != "" {
		return &refusedAgain{reason: "the result that was given does not fit: " + why}
	}
	if !bytes.Equal(given, deadletter.NoResult) && t.refuses(known, deadletter.NoResult) == "" {
		return &refusedAgain{reason: "its effect has no result: give null"}
	}
	return nil
}

// refuses decides the letter's record with a result of its effect. Nothing is kept.
func (t *transaction) refuses(known *keys.Known, result []byte) (why string) {
	f := t.facts(known)
	f.Effects = map[int64]wire.EffectResult{t.settles.Letter.Offset: {Result: result}}
	d, err := t.o.decider.Decide(t.records, f)
	if err != nil {
		return err.Error()
	}
	if len(d.Letters) > 0 {
		return d.Letters[0].Reason
	}
	return ""
}

// resultless refuses a result for a record that takes effect without one.
func (t *transaction) resultless(d *decide.Decision) error {
	if t.settles.Gives() && d.Result.Applied > 0 && len(d.Effects) == 0 {
		return &refusedAgain{reason: "its event has no effect, so that no result of one can be given"}
	}
	return nil
}

// errUnderWay says that the effect of a letter is not over.
var errUnderWay = errors.New("the effect of a dead letter is under way")

// glance is how long a letter waits for its effect before others have their turn.
const glance = 5 * time.Millisecond

// await looks whether the effect of a letter is over. why says why the letter stays as it
// is: whatever becomes of its effect halts no partition.
func (e *errands) await(ctx context.Context, of *awaitsEffect) (why string, _ error) {
	o := e.o
	if err := o.step(protocol.Awaits, nil); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	err := e.desk.Wait(limited, of.offset)
	h, halts := errors.AsType[*verdict.Halt](err)
	switch {
	case halts:
		return h.Error(), nil
	case err != nil && o.life.quit.Err() != nil:
		return "", o.ended()
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return "", errUnderWay
	}
	return "", err
}
