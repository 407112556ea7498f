package deadletter_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// An effect whose record has to wait behind a dead letter is not called, also if both are in one
// batch: whatever makes the one before it a dead letter.
func TestNoEffectOvertakesADeadLetterOfItsKey(t *testing.T) {
	rig.Lengthy(t)
	for name, c := range map[string]struct {
		first string
		err   error // of the first one's call
		calls int
	}{
		"interrupted":             {"effect 1", idem.Interrupted(errors.New("cut off")), 1},
		"refused for good":        {"effect 1", idem.Permanent(errors.New("no")), 1},
		"refused by the database": {"need 77 1", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InEachStore(t, rig.Interrupts, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, _ func() string) {
				s.Policy = wire.FailurePolicy{Park: true}
				p.Call = func(_ context.Context, row int32, _ int) error {
					if row == 1 {
						return c.err
					}
					return nil
				}
				rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Keyed(0, "a/x: "+c.first, "a/y: effect 2", "a/z: effect 3", "b/q: effect 4"))
				rig.Want(t, "states", rig.Query(t, db, `SELECT string_agg(offs || ' ' || state::text, ', ' ORDER BY offs) FROM idem_dead_letter`), "0 d, 1 w, 2 w")
				for row, calls := range map[int32]int{1: c.calls, 2: 0, 3: 0, 4: 1} {
					rig.Want(t, "calls", p.Count(row), calls)
				}
			})
		})
	}
}

// A record that waited, and whose call is refused when its turn comes, has the call's key, too.
func TestLetterOfAWaitingEffectHasItsKey(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Interrupts)
	s.Policy = wire.FailurePolicy{Park: true}
	p.Call = func(_ context.Context, row int32, nth int) error {
		if row == 2 || nth == 1 {
			return idem.Interrupted(errors.New("cut off"))
		}
		return nil
	}
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, rig.Keyed(0, "a/x: effect 1", "a/y: effect 2"))
	rig.Ask(t, db, "replay", 0)
	rig.WaitFor(t, "the letter is replayed, and the one behind it refused", func() bool {
		rig.Apply(t, w, nil)
		return rig.Query(t, db, `SELECT string_agg(offs || ' ' || state::text, ', ' ORDER BY offs) FROM idem_dead_letter`) == "0 r, 1 d"
	})
	rig.Want(t, "calls", p.Count(2), 1)
	rig.Want(t, "key", rig.Query(t, db, `SELECT replace(key::text, '-', '') FROM idem_dead_letter WHERE offs = 1`), p.Key.String())
}
