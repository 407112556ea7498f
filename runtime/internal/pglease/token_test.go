package pglease_test

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A number for a lease in another store is the next one, or above one that is known to have been
// drawn: then the sequence goes to the present time. Only leases of the consumer are here.
func TestNumbersForOtherStoresPassTheKnownOne(t *testing.T) {
	t.Parallel()
	db := idemtest.DB(t)
	tables(t, db)
	s := store(t, db)
	look := func(known int64) int64 {
		t.Helper()
		keys := []wire.Key{{1}, {2}}
		tokens, here, err := s.Look(t.Context(), "a", keys, known)
		if err != nil || len(tokens) != 2 || tokens[0] != tokens[1] || here[0] || here[1] {
			t.Fatalf("%v, %v, %v", tokens, here, err)
		}
		return tokens[0]
	}
	if first, second := look(0), look(1); first != 1 || second != 2 {
		t.Errorf("tokens %d and %d, want 1 and 2", first, second)
	}
	from := time.Now().Add(-time.Minute).UnixMicro()
	now := look(700)
	if now < from || now > time.Now().Add(time.Minute).UnixMicro() {
		t.Errorf("past 700: token %d, want the time in microseconds", now)
	}
	if next := look(now); next != now+1 {
		t.Errorf("after %d: token %d", now, next)
	}
	ahead := now + int64(time.Hour/time.Microsecond)
	if next := look(ahead); next <= ahead+1_000_000 || next > ahead+2_000_000 {
		t.Errorf("past %d, which is ahead of the clock: token %d", ahead, next)
	}
}

// A failed call is not forgotten before its pause ends, and the lease of a completed event is
// available once its window is over.
func TestWhatIsForgottenWhen(t *testing.T) {
	t.Parallel()
	db := idemtest.DB(t)
	tables(t, db)
	s := store(t, db)
	ask := func(owner byte) lease.Answer {
		t.Helper()
		got, err := s.Acquire(t.Context(), "a", []lease.Ask{{Owner: wire.UUID{owner}, Term: time.Minute, Keep: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	record := func(e lease.End, owner byte, token int64) {
		t.Helper()
		e.Hold = lease.Hold{Owner: wire.UUID{owner}, Token: token}
		if held, err := s.Record(t.Context(), "a", []lease.End{e}); err != nil || !held[0] {
			t.Fatal(held, err)
		}
	}
	record(lease.End{State: lease.Failed, Pause: time.Hour}, 1, ask(1).Token)
	if got := rig.Query(t, db, `SELECT (forget_at >= expires_at)::text FROM idem_lease`); got != "true" {
		t.Error("a failed call is forgotten before its pause ends")
	}
	idemtest.Exec(t, db, `UPDATE idem_lease SET expires_at = clock_timestamp() - interval '1 minute'`)
	second := ask(2)
	record(lease.End{State: lease.Done, Result: []byte("x")}, 2, second.Token)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'c'`)
	if got := ask(3); got.Got || got.State != lease.Completed {
		t.Errorf("within the window: %+v", got)
	}
	idemtest.Exec(t, db, `UPDATE idem_lease SET forget_at = clock_timestamp() - interval '1 second'`)
	if got := ask(3); !got.Got || got.Attempts != 1 || got.Token <= second.Token || got.Result != nil {
		t.Errorf("after the window: %+v", got)
	}
}
