package effect_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// truncated has offsets from one on count again, since the broker's log was cut off there.
func truncated(t testing.TB, db *pgxpool.Pool, to int64) {
	t.Helper()
	name := operate.Name{Consumer: "test", Topic: rig.Topic}
	if _, err := operate.Set(t.Context(), db, name, operate.Target{From: halt.Anywhere, To: to, ApplyAgain: true}, operate.By{Operator: "ann", Reason: "log-truncated"}); err != nil {
		t.Fatal(err)
	}
}

// An event that is known by its offset is another one if another record is there, and the same one
// if the record is read again: what was called for it is not called again.
func TestAnotherRecordAtAnOffsetHasAnotherCall(t *testing.T) {
	t.Parallel()
	rig.InEachStore(t, rig.Terms, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, _ func() string) {
		rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(0, "put 9 9", "effect 1"))
		truncated(t, db, 1)
		rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(1, "effect 2"))
		truncated(t, db, 1)
		rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(1, "effect 2"))
		rig.Want(t, "calls for what is gone", p.Count(1), 1)
		rig.Want(t, "calls for what is there", p.Count(2), 1)
	})
}

// Dead letters of one offset, from before and after the log was cut off, have a call each.
func TestLettersOfOneOffsetHaveACallEach(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Terms)
	p.Call = func(context.Context, int32, int) error { return idem.Permanent(errors.New("refused")) }
	rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Keyed(0, "k1/a: effect 1"))
	truncated(t, db, 0)
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, rig.Keyed(0, "k2/b: effect 2"))
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d, 0 d")
	p.Call = func(context.Context, int32, int) error { time.Sleep(100 * time.Millisecond); return nil }
	all, _, err := operate.Meant(t.Context(), db, operate.Selection{Consumer: "test", Topic: rig.Topic}, "discard")
	if err == nil {
		_, err = operate.Ask(t.Context(), db, all, "replay", nil, operate.By{Operator: "ann", Reason: "mended"})
	}
	if err != nil {
		t.Fatal(err)
	}
	w.LookAgain()
	for end := time.Now().Add(time.Minute); rig.LettersNow(t, db) != "0 r replayed, 0 r replayed" && time.Now().Before(end); {
		rig.Apply(t, w, nil)
	}
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed, 0 r replayed")
	rig.Want(t, "calls of the first record", p.Count(1), 2)
	rig.Want(t, "calls of the second record", p.Count(2), 2)
	rig.Want(t, "rows", rig.Query(t, db, `SELECT string_agg(id::text, ' ' ORDER BY id) FROM t`), "1 2")
}
