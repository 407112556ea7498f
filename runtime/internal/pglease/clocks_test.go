package pglease_test

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// While the clocks are apart, answers say so and give no wait longer than the term, a released
// lock is free at once, and a holder whose answer was lost gets its lease renewed.
func TestAnswersWhileTheClocksAreApart(t *testing.T) {
	db := idemtest.DB(t)
	tables(t, db)
	const term = 30 * time.Second
	for name, off := range map[string]time.Duration{"behind": time.Hour, "ahead": -24 * time.Hour, "a little behind": 9 * time.Second} {
		t.Run(name, func(t *testing.T) {
			idemtest.Exec(t, db, `TRUNCATE idem_lease`)
			s := store(t, db)
			s.Now = func() time.Time { return time.Now().Add(off) }
			ask := func(owner byte) lease.Answer {
				t.Helper()
				got, err := s.Acquire(t.Context(), lease.Locks("l"), []lease.Ask{{Owner: wire.UUID{owner}, Term: term, Keep: time.Hour}})
				if err != nil {
					t.Fatal(err)
				}
				return got[0]
			}
			first, apart := ask(1), off.Abs() > 10*time.Second
			again, other := ask(1), ask(2)
			if !first.Got || !again.Got || other.Got || again.Attempts != 1 || again.Token > first.Token != apart {
				t.Errorf("got %+v, then %+v, the other one %+v", first, again, other)
			}
			if got := -other.Apart.Round(time.Minute); apart && got != off || !apart && other.Apart != 0 {
				t.Errorf("the clocks are %v apart, not %v", got, off)
			}
			if other.Wait <= term/2 || other.Wait > term {
				t.Errorf("a wait of %v for a term of %v", other.Wait, term)
			}
			held, err := s.Record(t.Context(), lease.Locks("l"), []lease.End{{Hold: lease.Hold{Owner: wire.UUID{1}, Token: again.Token}, State: lease.Failed}})
			if err != nil || !held[0] {
				t.Fatal(held, err)
			}
			if next := ask(2); !next.Got {
				t.Errorf("the released lock: %+v", next)
			}
		})
	}
}
