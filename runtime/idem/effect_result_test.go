package idem_test

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
)

// recorded has the call of "a: effect 1" at offset 0 made and recorded, and its process die.
func recorded(t testing.TB, db *pgxpool.Pool, s service) {
	t.Helper()
	if _, err := own(t, s.consumer(t, db)).Apply(fault.With(t.Context(), lose(fault.AfterDone)), records(0, "a: effect 1")); err == nil {
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
			inEachStore(t, interrupts, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, leases func() string) {
				newer := s
				newer.unit = "EUR "
				recorded(t, db, newer)
				w := own(t, s.consumer(t, db))
				apply(t, w, records(0, "a: effect 1", "put 5 5"))
				want(t, "letters", lettersNow(t, db), "0 d")
				want(t, "reason", query(t, db, `SELECT reason FROM idem_dead_letter`), "result: Test: result must be a number")
				want(t, "claims", query(t, db, `SELECT count(*)::text FROM idem_keys`), "0")
				want(t, "what the letter keeps", query(t, db, `SELECT convert_from(result, 'UTF8') FROM idem_dead_letter`), "EUR 1")

				ask(t, db, "replay", 0)
				settled(t, db, w)
				want(t, "letters", lettersNow(t, db), "0 d result: Test: result must be a number")
				rows := "1=1 5=5"
				if how == "a result that was given" {
					rows = "1=7 5=5"
					giveResult(t, db, 0, "7")
				} else {
					w = own(t, newer.consumer(t, db))
					ask(t, db, "replay", 0)
				}
				settled(t, db, w)
				want(t, "letters", lettersNow(t, db), "0 r replayed")
				want(t, "rows", table(t, db), rows)
				want(t, "calls", p.count(1), 1)
				want(t, "leases", leases(), "c")
				want(t, "a copy", apply(t, w, records(2, "a: effect 1")), idem.Result{Duplicates: 1})
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
			terms := terms
			terms.Interrupts = class == "interrupted"
			inEachStore(t, terms, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, leases func() string) {
				s.effect = func(ctx context.Context, row int32) (int32, error) {
					_, err := p.effect(ctx, row)
					return -1, err
				}
				apply(t, own(t, s.consumer(t, db)), records(0, "a: effect 1", "put 5 5"))
				want(t, "letters", letters(t, db), "0 "+class)
				want(t, "rows", table(t, db), "5=5")
				want(t, "calls", p.count(1), of.calls)
				want(t, "leases", leases(), of.leases)
				want(t, "results", query(t, db, `SELECT count(result)::text FROM idem_dead_letter`), "0")
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
				db := database(t)
				var p provider
				var leases memlease.Store
				s := p.service(terms)
				if store == "memory" {
					s = p.serviceWith(&leases, terms)
				}
				forget := func() {
					leases.Forget()
					idemtest.Exec(t, db, `DELETE FROM idem_lease`)
				}
				idemtest.Exec(t, db, `ALTER TABLE t ADD CONSTRAINT later CHECK (v > 10)`)
				w := own(t, s.consumer(t, db))
				calls, class := 1, "0 database"
				if when == "a replay's call" {
					p.call = func(context.Context, int32, int) error { return idem.Permanent(errCut) }
					calls, class = 2, "0 effect"
				}
				apply(t, w, records(0, "a: effect 1"))
				want(t, "letters", letters(t, db), class)
				if p.call = nil; calls == 2 {
					ask(t, db, "replay", 0)
					waitFor(t, "an answer", func() bool {
						apply(t, w, nil)
						return query(t, db, `SELECT (asked IS NULL)::text FROM idem_dead_letter`) == "true"
					})
				}
				forget()
				idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT later`)
				ask(t, db, "replay", 0)
				apply(t, own(t, s.consumer(t, db)), nil)
				want(t, "letters", lettersNow(t, db), "0 r replayed")
				want(t, "calls", p.count(1), calls)
			})
		}
	}
}

// Of a record that became a conflict after its call the letter has the result. If its owner did
// not know of the call, it is in the lease, where an operator's command finds it.
func TestConflictBehindTheCall(t *testing.T) {
	t.Parallel()
	for _, dies := range []bool{false, true} {
		db := database(t)
		var p provider
		s := p.service(interrupts)
		s.resultless = dies
		other, err := s.consumer(t, db).Own(t.Context(), topic, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		msgs := records(0, "a: put 5 5")
		msgs[0].Partition = 1
		if dies {
			recorded(t, db, s)
			apply(t, other, msgs)
		}
		once := sync.OnceFunc(func() { apply(t, other, msgs) })
		ctx := fault.With(t.Context(), func(step string) error {
			if step == fault.BeforeClaim { // the result is recorded, and the ledger has not passed the event
				once()
			}
			return nil
		})
		if _, err := own(t, s.consumer(t, db)).Apply(ctx, records(0, "a: effect 1")); err != nil {
			t.Fatal(err)
		}
		want(t, "letters", letters(t, db), "0 conflict")
		want(t, "the letter keeps it", query(t, db, `SELECT (result IS NOT NULL)::text FROM idem_dead_letter`), strconv.FormatBool(!dies))
		o, err := operate.Open(t.Context(), db, operate.Name{Consumer: "test", Topic: topic}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !o.Called || o.Returned == nil {
			t.Fatal("nobody knows that it was called")
		}
		want(t, "what it returned", string(o.Returned.Raw()), map[bool]string{false: "1", true: "null"}[dies])
		want(t, "calls", p.count(1), 1)
	}
}
