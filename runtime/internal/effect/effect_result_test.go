package effect_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/memlease"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// recorded has the call of "a: effect 1" at offset 0 made and recorded, and its process die.
func recorded(t testing.TB, db *pgxpool.Pool, s rig.Service) {
	t.Helper()
	if _, err := rig.Own(t, s.Consumer(t, db)).Apply(fault.With(t.Context(), rig.Lose(fault.AfterDone)), rig.Records(0, "a: effect 1")); err == nil {
		t.Fatal("no crash")
	}
}

// A result that another version of the service recorded, and this one cannot read, makes a dead
// letter that claims no key and leaves the lease as it is. A version that reads it, or a person
// who says what it is, has the rows written. The call is not made again.
func TestResultThatAnotherVersionRecorded(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"a version that reads it", "a result that was given"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			rig.InEachStore(t, rig.Interrupts, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, leases func() string) {
				newer := s
				newer.Unit = "EUR "
				recorded(t, db, newer)
				w := rig.Own(t, s.Consumer(t, db))
				rig.Apply(t, w, rig.Records(0, "a: effect 1", "put 5 5"))
				rig.Want(t, "letters", rig.LettersNow(t, db), "0 d")
				rig.Want(t, "reason", rig.Query(t, db, `SELECT reason FROM idem_dead_letter`), "result: Test: result must be a number")
				rig.Want(t, "claims", rig.Query(t, db, `SELECT count(*)::text FROM idem_keys`), "0")
				rig.Want(t, "what the letter keeps", rig.Query(t, db, `SELECT convert_from(result, 'UTF8') FROM idem_dead_letter`), "EUR 1")

				rig.Ask(t, db, "replay", 0)
				rig.Settled(t, db, w)
				rig.Want(t, "letters", rig.LettersNow(t, db), "0 d result: Test: result must be a number")
				rows := "1=1 5=5"
				if how == "a result that was given" {
					rows = "1=7 5=5"
					rig.GiveResult(t, db, 0, "7")
				} else {
					w = rig.Own(t, newer.Consumer(t, db))
					rig.Ask(t, db, "replay", 0)
				}
				rig.Settled(t, db, w)
				rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
				rig.Want(t, "rows", rig.Table(t, db), rows)
				rig.Want(t, "calls", p.Count(1), 1)
				rig.Want(t, "leases", leases(), "c")
				rig.Want(t, "a copy", rig.Apply(t, w, rig.Records(2, "a: effect 1")), idem.Result{Duplicates: 1})
			})
		})
	}
}

// What a call returned that cannot be read is not recorded: the call failed, or its outcome is for
// a person, as if_interrupted says.
func TestResultThatCannotBeReadIsNotRecorded(t *testing.T) {
	t.Parallel()
	for class, of := range map[string]struct {
		leases string
		calls  int
	}{"effect": {"f", 1}, "interrupted": {"i", 1}} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			terms := rig.Terms
			terms.Interrupts = class == "interrupted"
			rig.InEachStore(t, terms, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, leases func() string) {
				s.Effect = func(ctx context.Context, row int32) (int32, error) {
					_, err := p.Effect(ctx, row)
					return -1, err
				}
				rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(0, "a: effect 1", "put 5 5"))
				rig.Want(t, "letters", rig.Letters(t, db), "0 "+class)
				rig.Want(t, "rows", rig.Table(t, db), "5=5")
				rig.Want(t, "calls", p.Count(1), of.calls)
				rig.Want(t, "leases", leases(), of.leases)
				rig.Want(t, "results", rig.Query(t, db, `SELECT count(result)::text FROM idem_dead_letter`), "0")
			})
		})
	}
}

// A result whose rows were refused is in the dead letter, so that the call is not made again
// although the store of leases forgot it.
func TestLetterKeepsTheResult(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"Postgres", "memory"} {
		for _, when := range []string{"the record's call", "a replay's call"} {
			t.Run(store+", "+when, func(t *testing.T) {
				t.Parallel()
				db := rig.Database(t)
				var p rig.Provider
				var leases memlease.Store
				s := p.Service(rig.Terms)
				if store == "memory" {
					s = p.ServiceWith(&leases, rig.Terms)
				}
				forget := func() {
					leases.Forget()
					idemtest.Exec(t, db, `DELETE FROM idem_lease`)
				}
				idemtest.Exec(t, db, `ALTER TABLE t ADD CONSTRAINT later CHECK (v > 10)`)
				w := rig.Own(t, s.Consumer(t, db))
				calls, class := 1, "0 database"
				if when == "a replay's call" {
					p.Call = func(context.Context, int32, int) error { return idem.Permanent(rig.ErrCut) }
					calls, class = 2, "0 effect"
				}
				rig.Apply(t, w, rig.Records(0, "a: effect 1"))
				rig.Want(t, "letters", rig.Letters(t, db), class)
				if p.Call = nil; calls == 2 {
					rig.Ask(t, db, "replay", 0)
					rig.WaitFor(t, "an answer", func() bool {
						rig.Apply(t, w, nil)
						return rig.Query(t, db, `SELECT (asked IS NULL)::text FROM idem_dead_letter`) == "true"
					})
				}
				forget()
				idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT later`)
				rig.Ask(t, db, "replay", 0)
				rig.Settled(t, db, rig.Own(t, s.Consumer(t, db)))
				rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
				rig.Want(t, "calls", p.Count(1), calls)
			})
		}
	}
}

// Of a record that became a conflict after its call the letter has the result. If its owner did
// not know of the call, it is in the lease, where an operator's command finds it.
func TestConflictBehindTheCall(t *testing.T) {
	t.Parallel()
	for _, dies := range []bool{false, true} {
		db := rig.Database(t)
		var p rig.Provider
		s := p.Service(rig.Interrupts)
		s.Resultless = dies
		other, err := s.Consumer(t, db).Own(t.Context(), rig.Topic, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		msgs := rig.Records(0, "a: put 5 5")
		msgs[0].Partition = 1
		if dies {
			recorded(t, db, s)
			rig.Apply(t, other, msgs)
		}
		once := sync.OnceFunc(func() { rig.Apply(t, other, msgs) })
		ctx := fault.With(t.Context(), func(step string) error {
			if step == fault.BeforeClaim { // the result is recorded, and the ledger has not passed the event
				once()
			}
			return nil
		})
		if _, err := rig.Own(t, s.Consumer(t, db)).Apply(ctx, rig.Records(0, "a: effect 1")); err != nil {
			t.Fatal(err)
		}
		rig.Want(t, "letters", rig.Letters(t, db), "0 conflict")
		rig.Want(t, "the letter keeps it", rig.Query(t, db, `SELECT (result IS NOT NULL)::text FROM idem_dead_letter`), strconv.FormatBool(!dies))
		o, err := operate.Open(t.Context(), db, operate.Name{Consumer: "test", Topic: rig.Topic}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !o.Called || o.Returned == nil {
			t.Fatal("nobody knows that it was called")
		}
		rig.Want(t, "what it returned", string(o.Returned.Raw()), map[bool]string{false: "1", true: "null"}[dies])
		rig.Want(t, "calls", p.Count(1), 1)
	}
}
