package deadletter_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// A replay that is taken back makes no further call, and a result that is given then is the one
// that counts.
func TestReplayThatIsTakenBackCallsNoMore(t *testing.T) {
	t.Parallel()
	rig.InEachStore(t, rig.Interrupts, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, _ func() string) {
		p.Call = func(_ context.Context, _ int32, nth int) error {
			if nth == 1 {
				return nil
			}
			return idem.RetryAfter(50*time.Millisecond, errors.New("busy"))
		}
		w := cutOff(t, db, s)
		look := func() {
			w.LookAgain()
			rig.Apply(t, w, rig.Records(w.Next(), "put 5 5"))
		}
		rig.Ask(t, db, "replay", 0)
		for look(); p.Count(1) < 3; {
			time.Sleep(time.Millisecond)
		}
		found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "test", Topic: rig.Topic, Offset: 0}})
		if err == nil {
			_, err = operate.TakeBack(t.Context(), db, found, operate.By{Operator: "ann", Reason: "not yet"})
		}
		if err != nil {
			t.Fatal(err)
		}
		calls := p.Count(1)
		for end := time.Now().Add(time.Minute); ; calls = p.Count(1) { // calls come every 50 ms while there are some
			look()
			if time.Sleep(300 * time.Millisecond); p.Count(1) == calls {
				break
			}
			if time.Now().After(end) {
				t.Fatal("calls are made on and on")
			}
		}
		rig.GiveResult(t, db, 0, "7")
		for end := time.Now().Add(time.Minute); rig.Table(t, db) != "1=7 5=5" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			look()
		}
		rig.Want(t, "rows", rig.Table(t, db), "1=7 5=5")
		rig.Want(t, "calls at last", p.Count(1), calls)
	})
}
