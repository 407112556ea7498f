package idem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/memlease"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtest/testleases"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

// inEachStore runs a test with leases in Postgres and in memory; the long run does so in Redis,
// too, whose store keeps the same contract (leasetest).
func inEachStore(t *testing.T, terms wire.EffectTerms, test func(t *testing.T, db *pgxpool.Pool, p *provider, s service, leases func() string)) {
	t.Run("Postgres", func(t *testing.T) {
		t.Parallel()
		db := database(t)
		var p provider
		test(t, db, &p, p.service(terms), func() string { return leases(t, db) })
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		db := database(t)
		var p provider
		var store memlease.Store
		test(t, db, &p, p.serviceWith(&store, terms), func() string { return strings.ReplaceAll(outsideStates(&store), "d", "c") })
	})
	t.Run("Redis", func(t *testing.T) {
		longtest.Skip(t)
		t.Parallel()
		db := database(t)
		var p provider
		store := testleases.InRedis(t, db)
		test(t, db, &p, p.serviceWith(store, terms), func() string {
			fields, err := store.(idemtest.LeaseStore).Fields(t.Context(), query(t, db, `SELECT replace(id::text, '-', '') FROM idem_schema`)+":test", p.key)
			if err != nil {
				t.Fatal(err)
			}
			return strings.ReplaceAll(fields["state"], "d", "c")
		})
	})
}

// settled runs the owner until each request has an answer. The owner waits only a few
// milliseconds for the call of an effect before it continues with other requests, so on a busy
// machine one batch is not enough.
func settled(t *testing.T, db *pgxpool.Pool, w *idem.Writer) {
	t.Helper()
	waitFor(t, "each request has an answer", func() bool {
		apply(t, w, nil)
		return query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE asked IS NOT NULL`) == "0"
	})
}

// giveResult asks to replay the letter of an offset of partition 0, with the result of its effect.
func giveResult(t testing.TB, db *pgxpool.Pool, offset int64, result string) {
	t.Helper()
	found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "test", Topic: topic, Offset: offset}})
	if err == nil {
		_, err = operate.Ask(t.Context(), db, found[:1], "replay", []byte(result), operate.By{Operator: "ann", Reason: "found out"})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// cutOff has the call of "a: effect 1" at offset 0 cut off after the call, and its record be a
// dead letter.
func cutOff(t testing.TB, db *pgxpool.Pool, s service) *idem.Writer {
	t.Helper()
	msgs := records(0, "a: effect 1")
	if _, err := own(t, s.consumer(t, db)).Apply(fault.With(t.Context(), lose(fault.AfterCall)), msgs); err == nil {
		t.Fatal("no crash")
	}
	w := own(t, s.consumer(t, db))
	apply(t, w, msgs)
	want(t, "letters", letters(t, db), "0 interrupted")
	return w
}

// A replay is a person's word that an interrupted call is to be made again. Its copies that are
// letters, too, are duplicates then.
func TestReplayCallsAnInterruptedEffectAgain(t *testing.T) {
	lengthy(t)
	inEachStore(t, interrupts, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, leases func() string) {
		w := cutOff(t, db, s)
		apply(t, w, records(1, "a: effect 1", "put 5 5"))
		want(t, "calls", p.count(1), 1)
		ask(t, db, "replay", 1)
		ask(t, db, "replay", 0)
		settled(t, db, w)
		want(t, "calls", p.count(1), 2)
		want(t, "rows", table(t, db), "1=2 5=5")
		// They have no record key, so either may be the first.
		want(t, "letters", query(t, db, `SELECT string_agg(state::text || ' ' || answer, ', ' ORDER BY answer) FROM idem_dead_letter`),
			"r replayed, r replayed, without effect: a copy of it was applied before")
		want(t, "leases", leases(), "c")
		apply(t, w, records(3, "a: effect 1"))
		want(t, "calls with a copy", p.count(1), 2)
	})
}

// A replay of a failed effect calls it again, as often as on_failure says; one that fails stays
// dead, and is asked for anew.
func TestReplayCallsAFailedEffectAgain(t *testing.T) {
	t.Parallel()
	inEachStore(t, terms, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, leases func() string) {
		p.call = func(context.Context, int32, int) error { return errors.New("refused") }
		w := own(t, s.consumer(t, db))
		apply(t, w, records(0, "a: effect 1"))
		want(t, "calls", p.count(1), 3)
		for n := 1; n <= 2; n++ {
			ask(t, db, "replay", 0)
			settled(t, db, w)
			want(t, "letters", lettersNow(t, db), "0 d effect: Test: refused")
			want(t, "calls of replays", p.count(1), 3+3*n)
		}
		p.call = nil
		ask(t, db, "replay", 0)
		settled(t, db, w)
		want(t, "letters", lettersNow(t, db), "0 r replayed")
		want(t, "calls", p.count(1), 10)
		want(t, "rows", table(t, db), "1=10")
		want(t, "leases", leases(), "c")
	})
}

// What was recorded is not called again for a replay, whatever else made the record a letter.
func TestReplayTakesTheRecordedResult(t *testing.T) {
	t.Parallel()
	inEachStore(t, interrupts, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, leases func() string) {
		idemtest.Exec(t, db, `ALTER TABLE t ADD CONSTRAINT later CHECK (v > 1)`)
		w := own(t, s.consumer(t, db))
		apply(t, w, records(0, "a: effect 1"))
		want(t, "letters", letters(t, db), "0 database")
		giveResult(t, db, 0, "7")
		settled(t, db, w)
		wantText(t, errors.New(lettersNow(t, db)), "its effect has a result already, which counts in place of the one that was given: repair the rows, or discard the letter")
		idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT later`)
		giveResult(t, db, 0, "7")
		settled(t, db, w)
		want(t, "letters", lettersNow(t, db), "0 r replayed, with the result that was recorded before, in place of the one that was given")
		want(t, "rows", table(t, db), "1=1")
		want(t, "calls", p.count(1), 1)
		want(t, "leases", leases(), "c")
	})
}

// A person who says what the call returned has it recorded, and nothing is called. The request
// keeps no result once it is answered.
func TestReplayWithAResult(t *testing.T) {
	lengthy(t)
	for name, of := range map[string]wire.EffectTerms{"interrupted": interrupts, "effect": terms} {
		t.Run(name, func(t *testing.T) {
			inEachStore(t, of, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, leases func() string) {
				var w *idem.Writer
				if of.Interrupts {
					w = cutOff(t, db, s)
				} else {
					p.call = func(context.Context, int32, int) error { return idem.Permanent(errors.New("said it failed")) }
					w = own(t, s.consumer(t, db))
					apply(t, w, records(0, "a: effect 1"))
				}
				want(t, "the letter's key", query(t, db, `SELECT replace(key::text, '-', '') FROM idem_dead_letter`), p.key.String())
				giveResult(t, db, 0, " 7 ")
				want(t, "kept", query(t, db, `SELECT convert_from(asked_result, 'UTF8') FROM idem_dead_letter`), "7")
				apply(t, w, records(1, "put 5 5"))
				settled(t, db, w)
				want(t, "letters", lettersNow(t, db), "0 r replayed")
				want(t, "rows", table(t, db), "1=7 5=5")
				want(t, "calls", p.count(1), 1)
				want(t, "leases", leases(), "c")
				want(t, "what is left of the request", query(t, db, `SELECT count(asked_result) || ' ' || count(asked_number) FROM idem_dead_letter`), "0 0")
				want(t, "a result was given", query(t, db, `SELECT asked_with_result::text FROM idem_dead_letter`), "true")
				res := apply(t, w, records(2, "a: effect 1"))
				want(t, "a copy", res, idem.Result{Duplicates: 1})
			})
		})
	}
}

// A result that cannot be one leaves the letter dead, and the lease as it was.
func TestReplayRefusesAResultThatDoesNotFit(t *testing.T) {
	lengthy(t)
	inEachStore(t, interrupts, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, leases func() string) {
		w := cutOff(t, db, s)
		apply(t, w, records(1, "put 5 5000"))
		for _, c := range []struct {
			offset         int64
			result, answer string
		}{
			{0, `"many"`, "0 d the result that was given does not fit: result: Test: result must be a number, 1 d"},
			{0, `null`, "0 d the result that was given does not fit: result: Test: result must be a number, 1 d"},
			{1, `7`, "0 d the result that was given does not fit: result: Test: result must be a number, 1 d its event has no effect, so that no result of one can be given"},
		} {
			idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT IF EXISTS t_v_check`)
			giveResult(t, db, c.offset, c.result)
			settled(t, db, w)
			want(t, "letters", lettersNow(t, db), c.answer)
		}
		want(t, "leases", leases(), "i")
		want(t, "what is left of the requests", query(t, db, `SELECT count(asked_result)::text FROM idem_dead_letter`), "0")
		ask(t, db, "replay", 0) // and it can be asked for anew
		apply(t, w, nil)
		want(t, "calls", p.count(1), 2)
	})
}

// An effect without a result takes null, and nothing else.
func TestReplayOfAnEffectWithoutAResult(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(interrupts)
	s.resultless = true
	w := cutOff(t, db, s)
	giveResult(t, db, 0, "7")
	settled(t, db, w)
	want(t, "letters", lettersNow(t, db), "0 d its effect has no result: give null")
	giveResult(t, db, 0, "null")
	settled(t, db, w)
	want(t, "letters", lettersNow(t, db), "0 r replayed")
	want(t, "rows", table(t, db), "1=0")
	want(t, "calls", p.count(1), 1)
}

// Whatever is cut off at any step of a replay, nothing is lost, and no call is made again but by
// another word of a person: one that was cut off leaves the letter dead.
func TestReplayOfAnEffectSurvivesACrashAtEachStep(t *testing.T) {
	lengthy(t)
	const again, given = false, true
	for n, c := range []struct {
		step   string
		result bool
		dead   bool // nobody knows what the call did
		calls  int
	}{
		{fault.BeforeSend, again, false, 2}, {fault.BeforeLease, again, false, 2}, {fault.AfterLease, again, true, 1}, {fault.AfterCall, again, true, 2},
		{fault.AfterDone, again, false, 2}, {fault.BeforeClaim, again, false, 2}, {fault.Reply, again, false, 2},
		{fault.BeforeSend, given, false, 1}, {fault.BeforeLease, given, false, 1}, {fault.AfterFound, given, false, 1},
		{fault.BeforeClaim, given, false, 1}, {fault.Reply, given, false, 1},
	} {
		for _, same := range oneOrBoth(n) {
			t.Run(fmt.Sprintf("%s, given %t, same owner %t", c.step, c.result, same), func(t *testing.T) {
				t.Parallel()
				inEachStore(t, interrupts, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, _ func() string) {
					w := cutOff(t, db, s)
					if c.result {
						giveResult(t, db, 0, "7")
					} else {
						ask(t, db, "replay", 0)
					}
					ctx, cancel := context.WithCancel(t.Context())
					var struck atomic.Bool
					ctx = fault.With(ctx, func(at string) error {
						if at == c.step && struck.CompareAndSwap(false, true) {
							cancel()
							return errCut
						}
						return nil
					})
					var err error
					for end := time.Now().Add(time.Minute); err == nil && time.Now().Before(end); { // the call may take more than one look
						_, err = w.Apply(ctx, nil)
					}
					if err == nil || !struck.Load() {
						t.Fatal("no crash: ", err)
					}
					if !same {
						w = own(t, s.consumer(t, db))
					}
					for end := time.Now().Add(10 * time.Second); strings.Contains(lettersNow(t, db), "?") && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
						if _, err := w.Apply(t.Context(), nil); err != nil && !errors.Is(err, errCut) {
							t.Fatal(err)
						}
					}
					apply(t, w, records(1, "put 5 5"))
					want(t, "calls", p.count(1), c.calls)
					switch {
					case c.dead:
						want(t, "letters", lettersNow(t, db), "0 d interrupted: Test: the outcome of the call is unknown: the lease ended before the call did")
						want(t, "rows", table(t, db), "5=5")
					case c.result:
						want(t, "letters", lettersNow(t, db), "0 r replayed")
						want(t, "rows", table(t, db), "1=7 5=5")
					default:
						want(t, "letters", lettersNow(t, db), "0 r replayed")
						want(t, "rows", table(t, db), "1=2 5=5")
					}
				})
			})
		}
	}
}

// Records go on while the call of a replay runs, and its result is found when it is over.
func TestRecordsGoOnWhileAReplayCalls(t *testing.T) {
	lengthy(t)
	inEachStore(t, interrupts, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, _ func() string) {
		w := cutOff(t, db, s)
		goOn := make(chan struct{})
		p.call = func(context.Context, int32, int) error {
			<-goOn
			return nil
		}
		late := time.AfterFunc(20*time.Second, func() {
			t.Error("records wait for the call of a replay")
			close(goOn)
		})
		ask(t, db, "replay", 0)
		apply(t, w, nil)
		for offset := range int64(5) {
			apply(t, w, records(1+offset, "put 5 5"))
		}
		want(t, "rows", table(t, db), "5=5")
		if !late.Stop() {
			return
		}
		want(t, "letters", lettersNow(t, db), "0 d r?")
		close(goOn)
		for end := time.Now().Add(10 * time.Second); strings.Contains(lettersNow(t, db), "?") && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			apply(t, w, nil)
		}
		want(t, "letters", lettersNow(t, db), "0 r replayed")
		want(t, "rows", table(t, db), "1=2 5=5")
		want(t, "calls", p.count(1), 2)
	})
}

// What would halt a partition before a record keeps a letter dead.
func TestAReplayedEffectHaltsNothing(t *testing.T) {
	lengthy(t)
	for name, c := range map[string]struct {
		err    error
		stop   bool
		answer string
	}{
		"not implemented": {idem.ErrNotImplemented, false, "effect Test is not implemented"},
		"give_up: stop":   {idem.Interrupted(errors.New("cut off")), true, "on_failure says stop: interrupted: Test"},
	} {
		t.Run(name, func(t *testing.T) {
			inEachStore(t, interrupts, func(t *testing.T, db *pgxpool.Pool, p *provider, s service, _ func() string) {
				cutOff(t, db, s)
				p.call = func(context.Context, int32, int) error { return c.err }
				s.policy.Stop = c.stop
				w := own(t, s.consumer(t, db))
				ask(t, db, "replay", 0)
				settled(t, db, w)
				if got := lettersNow(t, db); !strings.HasPrefix(got, "0 d "+c.answer) {
					t.Errorf("letters: %s, want the answer %q", got, c.answer)
				}
				apply(t, w, records(1, "put 5 5"))
				want(t, "rows", table(t, db), "5=5")
			})
		})
	}
}
