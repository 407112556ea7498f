package deadletter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// cutOff has the call of "a: effect 1" at offset 0 cut off after the call, and its record be a
// dead letter.
func cutOff(t testing.TB, db *pgxpool.Pool, s rig.Service) *rig.Writer {
	t.Helper()
	msgs := rig.Records(0, "a: effect 1")
	if _, err := rig.Own(t, s.Consumer(t, db)).Apply(fault.With(t.Context(), rig.Lose(fault.AfterCall)), msgs); err == nil {
		t.Fatal("no crash")
	}
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, msgs)
	rig.Want(t, "letters", rig.Letters(t, db), "0 interrupted")
	return w
}

// A replay is a person's word that an interrupted call is to be made again. Its copies that are
// letters, too, are duplicates then.
func TestReplayCallsAnInterruptedEffectAgain(t *testing.T) {
	rig.Lengthy(t)
	rig.InEachStore(t, rig.Interrupts, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, leases func() string) {
		w := cutOff(t, db, s)
		rig.Apply(t, w, rig.Records(1, "a: effect 1", "put 5 5"))
		rig.Want(t, "calls", p.Count(1), 1)
		rig.Ask(t, db, "replay", 1)
		rig.Ask(t, db, "replay", 0)
		rig.Settled(t, db, w)
		rig.Want(t, "calls", p.Count(1), 2)
		rig.Want(t, "rows", rig.Table(t, db), "1=2 5=5")
		// They have no record key, so either may be the first.
		rig.Want(t, "letters", rig.Query(t, db, `SELECT string_agg(state::text || ' ' || answer, ', ' ORDER BY answer) FROM idem_dead_letter`),
			"r replayed, r replayed, without effect: a duplicate of it was applied before")
		rig.Want(t, "leases", leases(), "c")
		rig.Apply(t, w, rig.Records(3, "a: effect 1"))
		rig.Want(t, "calls with a copy", p.Count(1), 2)
	})
}

// A replay of a failed effect calls it again, as often as on_failure says; one that fails stays
// dead, and is asked for anew.
func TestReplayCallsAFailedEffectAgain(t *testing.T) {
	t.Parallel()
	rig.InEachStore(t, rig.Terms, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, leases func() string) {
		p.Call = func(context.Context, int32, int) error { return errors.New("refused") }
		w := rig.Own(t, s.Consumer(t, db))
		rig.Apply(t, w, rig.Records(0, "a: effect 1"))
		rig.Want(t, "calls", p.Count(1), 3)
		for n := 1; n <= 2; n++ {
			rig.Ask(t, db, "replay", 0)
			rig.Settled(t, db, w)
			rig.Want(t, "letters", rig.LettersNow(t, db), "0 d effect: Test: refused")
			rig.Want(t, "calls of replays", p.Count(1), 3+3*n)
		}
		p.Call = nil
		rig.Ask(t, db, "replay", 0)
		rig.Settled(t, db, w)
		rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
		rig.Want(t, "calls", p.Count(1), 10)
		rig.Want(t, "rows", rig.Table(t, db), "1=10")
		rig.Want(t, "leases", leases(), "c")
	})
}

// What was recorded is not called again for a replay, whatever else made the record a letter.
func TestReplayTakesTheRecordedResult(t *testing.T) {
	t.Parallel()
	rig.InEachStore(t, rig.Interrupts, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, leases func() string) {
		idemtest.Exec(t, db, `ALTER TABLE t ADD CONSTRAINT later CHECK (v > 1)`)
		w := rig.Own(t, s.Consumer(t, db))
		rig.Apply(t, w, rig.Records(0, "a: effect 1"))
		rig.Want(t, "letters", rig.Letters(t, db), "0 database")
		rig.GiveResult(t, db, 0, "7")
		rig.Settled(t, db, w)
		rig.WantText(t, errors.New(rig.LettersNow(t, db)), "its effect already has a result, which is used instead of the one that was given: repair the rows, or discard the letter")
		idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT later`)
		rig.GiveResult(t, db, 0, "7")
		rig.Settled(t, db, w)
		rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed with the result recorded before, instead of the one that was given")
		rig.Want(t, "rows", rig.Table(t, db), "1=1")
		rig.Want(t, "calls", p.Count(1), 1)
		rig.Want(t, "leases", leases(), "c")
	})
}

// A person who says what the call returned has it recorded, and nothing is called. The request
// keeps no result once it is answered.
func TestReplayWithAResult(t *testing.T) {
	rig.Lengthy(t)
	for name, of := range map[string]wire.EffectTerms{"interrupted": rig.Interrupts, "effect": rig.Terms} {
		t.Run(name, func(t *testing.T) {
			rig.InEachStore(t, of, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, leases func() string) {
				var w *rig.Writer
				if of.Interrupts {
					w = cutOff(t, db, s)
				} else {
					p.Call = func(context.Context, int32, int) error { return idem.Permanent(errors.New("said it failed")) }
					w = rig.Own(t, s.Consumer(t, db))
					rig.Apply(t, w, rig.Records(0, "a: effect 1"))
				}
				rig.Want(t, "the letter's key", rig.Query(t, db, `SELECT replace(key::text, '-', '') FROM idem_dead_letter`), p.Key.String())
				rig.GiveResult(t, db, 0, " 7 ")
				rig.Want(t, "kept", rig.Query(t, db, `SELECT convert_from(asked_result, 'UTF8') FROM idem_dead_letter`), "7")
				rig.Apply(t, w, rig.Records(1, "put 5 5"))
				rig.Settled(t, db, w)
				rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
				rig.Want(t, "rows", rig.Table(t, db), "1=7 5=5")
				rig.Want(t, "calls", p.Count(1), 1)
				rig.Want(t, "leases", leases(), "c")
				rig.Want(t, "what is left of the request", rig.Query(t, db, `SELECT count(asked_result) || ' ' || count(asked_number) FROM idem_dead_letter`), "0 0")
				rig.Want(t, "a result was given", rig.Query(t, db, `SELECT asked_with_result::text FROM idem_dead_letter`), "true")
				res := rig.Apply(t, w, rig.Records(2, "a: effect 1"))
				rig.Want(t, "a copy", res, idem.Result{Duplicates: 1})
			})
		})
	}
}

// A result that cannot be one leaves the letter dead, and the lease as it was.
func TestReplayRefusesAResultThatDoesNotFit(t *testing.T) {
	rig.Lengthy(t)
	rig.InEachStore(t, rig.Interrupts, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, leases func() string) {
		w := cutOff(t, db, s)
		rig.Apply(t, w, rig.Records(1, "put 5 5000"))
		for _, c := range []struct {
			offset         int64
			result, answer string
		}{
			{0, `"many"`, "0 d the result that was given does not fit: result: Test: result must be a number, 1 d"},
			{0, `null`, "0 d the result that was given does not fit: result: Test: result must be a number, 1 d"},
			{1, `7`, "0 d the result that was given does not fit: result: Test: result must be a number, 1 d its event has no effect, so it does not accept a result"},
		} {
			idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT IF EXISTS t_v_check`)
			rig.GiveResult(t, db, c.offset, c.result)
			rig.Settled(t, db, w)
			rig.Want(t, "letters", rig.LettersNow(t, db), c.answer)
		}
		rig.Want(t, "leases", leases(), "i")
		rig.Want(t, "what is left of the requests", rig.Query(t, db, `SELECT count(asked_result)::text FROM idem_dead_letter`), "0")
		rig.Ask(t, db, "replay", 0) // and it can be asked for anew
		rig.Apply(t, w, nil)
		rig.Want(t, "calls", p.Count(1), 2)
	})
}

// An effect without a result takes null, and nothing else.
func TestReplayOfAnEffectWithoutAResult(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Interrupts)
	s.Resultless = true
	w := cutOff(t, db, s)
	rig.GiveResult(t, db, 0, "7")
	rig.Settled(t, db, w)
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d its effect has no result: give null")
	rig.GiveResult(t, db, 0, "null")
	rig.Settled(t, db, w)
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
	rig.Want(t, "rows", rig.Table(t, db), "1=0")
	rig.Want(t, "calls", p.Count(1), 1)
}

// Whatever is cut off at any step of a replay, nothing is lost, and no call is made again but by
// another word of a person: one that was cut off leaves the letter dead.
func TestReplayOfAnEffectSurvivesACrashAtEachStep(t *testing.T) {
	rig.Lengthy(t)
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
		for _, same := range rig.OneOrBoth(n) {
			t.Run(fmt.Sprintf("%s, given %t, same owner %t", c.step, c.result, same), func(t *testing.T) {
				t.Parallel()
				rig.InEachStore(t, rig.Interrupts, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, _ func() string) {
					w := cutOff(t, db, s)
					if c.result {
						rig.GiveResult(t, db, 0, "7")
					} else {
						rig.Ask(t, db, "replay", 0)
					}
					ctx, cancel := context.WithCancel(t.Context())
					var struck atomic.Bool
					ctx = fault.With(ctx, func(at string) error {
						if at == c.step && struck.CompareAndSwap(false, true) {
							cancel()
							return rig.ErrCut
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
						w = rig.Own(t, s.Consumer(t, db))
					}
					for end := time.Now().Add(time.Minute); strings.Contains(rig.LettersNow(t, db), "?") && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
						if _, err := w.Apply(t.Context(), nil); err != nil && !errors.Is(err, rig.ErrCut) {
							t.Fatal(err)
						}
					}
					rig.Apply(t, w, rig.Records(1, "put 5 5"))
					rig.Want(t, "calls", p.Count(1), c.calls)
					switch {
					case c.dead:
						rig.Want(t, "letters", rig.LettersNow(t, db), "0 d interrupted: Test: the outcome of the call is unknown: the lease ended before the call did")
						rig.Want(t, "rows", rig.Table(t, db), "5=5")
					case c.result:
						rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
						rig.Want(t, "rows", rig.Table(t, db), "1=7 5=5")
					default:
						rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
						rig.Want(t, "rows", rig.Table(t, db), "1=2 5=5")
					}
				})
			})
		}
	}
}

// Records go on while the call of a replay runs, and its result is found when it is over.
func TestRecordsGoOnWhileAReplayCalls(t *testing.T) {
	rig.Lengthy(t)
	rig.InEachStore(t, rig.Interrupts, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, _ func() string) {
		w := cutOff(t, db, s)
		goOn := make(chan struct{})
		p.Call = func(context.Context, int32, int) error {
			<-goOn
			return nil
		}
		late := time.AfterFunc(20*time.Second, func() {
			t.Error("records wait for the call of a replay")
			close(goOn)
		})
		rig.Ask(t, db, "replay", 0)
		rig.Apply(t, w, nil)
		for offset := range int64(5) {
			rig.Apply(t, w, rig.Records(1+offset, "put 5 5"))
		}
		rig.Want(t, "rows", rig.Table(t, db), "5=5")
		if !late.Stop() {
			return
		}
		rig.Want(t, "letters", rig.LettersNow(t, db), "0 d r?")
		close(goOn)
		for end := time.Now().Add(time.Minute); strings.Contains(rig.LettersNow(t, db), "?") && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			rig.Apply(t, w, nil)
		}
		rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
		rig.Want(t, "rows", rig.Table(t, db), "1=2 5=5")
		rig.Want(t, "calls", p.Count(1), 2)
	})
}

// What would halt a partition before a record keeps a letter dead.
func TestAReplayedEffectHaltsNothing(t *testing.T) {
	rig.Lengthy(t)
	for name, c := range map[string]struct {
		err    error
		stop   bool
		answer string
	}{
		"not implemented": {idem.ErrNotImplemented, false, "effect Test is not implemented"},
		"give_up: stop":   {idem.Interrupted(errors.New("cut off")), true, "on_failure says stop: interrupted: Test"},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InEachStore(t, rig.Interrupts, func(t *testing.T, db *pgxpool.Pool, p *rig.Provider, s rig.Service, _ func() string) {
				cutOff(t, db, s)
				p.Call = func(context.Context, int32, int) error { return c.err }
				s.Policy.Stop = c.stop
				w := rig.Own(t, s.Consumer(t, db))
				rig.Ask(t, db, "replay", 0)
				rig.Settled(t, db, w)
				if got := rig.LettersNow(t, db); !strings.HasPrefix(got, "0 d "+c.answer) {
					t.Errorf("letters: %s, want the answer %q", got, c.answer)
				}
				rig.Apply(t, w, rig.Records(1, "put 5 5"))
				rig.Want(t, "rows", rig.Table(t, db), "5=5")
			})
		})
	}
}
