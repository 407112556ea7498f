package idem_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// An effect whose record has to wait behind a dead letter is not called, also if both are in one
// batch: whatever makes the one before it a dead letter.
func TestNoEffectOvertakesADeadLetterOfItsKey(t *testing.T) {
	lengthy(t)
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
			inEachStore(t, interrupts, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, _ func() string) {
				s.policy = wire.FailurePolicy{Park: true}
				p.call = func(_ context.Context, row int32, _ int) error {
					if row == 1 {
						return c.err
					}
					return nil
				}
				apply(t, own(t, s.consumer(t, db)), keyed(0, "a/x: "+c.first, "a/y: effect 2", "a/z: effect 3", "b/q: effect 4"))
				want(t, "states", query(t, db, `SELECT string_agg(offs || ' ' || state::text, ', ' ORDER BY offs) FROM idem_dead_letter`), "0 d, 1 w, 2 w")
				for row, calls := range map[int32]int{1: c.calls, 2: 0, 3: 0, 4: 1} {
					want(t, "calls", p.count(row), calls)
				}
			})
		})
	}
}

// A record that waited, and whose call is refused when its turn comes, has the call's key, too.
func TestLetterOfAWaitingEffectHasItsKey(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(interrupts)
	s.policy = wire.FailurePolicy{Park: true}
	p.call = func(_ context.Context, row int32, nth int) error {
		if row == 2 || nth == 1 {
			return idem.Interrupted(errors.New("cut off"))
		}
		return nil
	}
	w := own(t, s.consumer(t, db))
	apply(t, w, keyed(0, "a/x: effect 1", "a/y: effect 2"))
	ask(t, db, "replay", 0)
	waitFor(t, "the letter is replayed, and the one behind it refused", func() bool {
		apply(t, w, nil)
		return query(t, db, `SELECT string_agg(offs || ' ' || state::text, ', ' ORDER BY offs) FROM idem_dead_letter`) == "0 r, 1 d"
	})
	want(t, "calls", p.count(2), 1)
	want(t, "key", query(t, db, `SELECT replace(key::text, '-', '') FROM idem_dead_letter WHERE offs = 1`), p.key.String())
}
