package deadletter_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

var parking = wire.FailurePolicy{StopAfter: 2, Park: true}

// parked is a service that parks, with a dead letter at offset 1, behind which offsets 3, 5 and 6
// wait.
func parked(t testing.TB, db *pgxpool.Pool, edit func(*wire.Service)) (rig.Service, *rig.Writer) {
	t.Helper()
	s := rig.Service{Policy: parking, Edit: edit}
	w := rig.Own(t, s.Consumer(t, db))
	rig.Want(t, "result", rig.Apply(t, w, rig.Keyed(0, "a/put 1 1", "a/need 7 1", "b/put 2 2", "a/put 1 3", "put 3 3", "a/need 7 5", "a/put 1 6", "b/put 2 7")),
		idem.Result{Applied: 4, Dead: 1, Waiting: 3})
	rig.Want(t, "letters", rig.LettersNow(t, db), "1 d, 3 w, 5 w, 6 w")
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=7 3=3")
	return s, w
}

// Later records of a record key wait behind its dead letter, in the same batch and in others;
// records of other keys and without a key go on, and waiting counts for nothing.
func TestRecordsWaitBehindADeadLetterOfTheirKey(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	_, w := parked(t, db, nil)
	rig.Want(t, "result", rig.Apply(t, w, rig.Keyed(8, "a/put 1 8", "a/put 1 9", "a/skip 1", "a/nonsense x", "b/nonsense x", "c/put 4 4")), idem.Result{Waiting: 4, Dead: 1, Applied: 1})
	rig.Want(t, "reason", rig.Query(t, db, `SELECT reason FROM idem_dead_letter WHERE offs = 8`), "parked: waits behind a dead letter of its record key")
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=7 3=3 4=4")
	rig.Want(t, "in one batch", rig.Apply(t, w, rig.Keyed(14, "d/nonsense x", "d/put 6 6")), idem.Result{Dead: 1, Waiting: 1})
	rig.Want(t, "a record without a key", rig.Apply(t, w, rig.Keyed(16, "nonsense x", "put 5 5")), idem.Result{Dead: 1, Applied: 1})
}

// A replay lets the waiting records go on, in their order: the rows are those of a log in which
// nothing had failed. The last one opens the key again.
func TestReplayLetsTheWaitingRecordsGoOn(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"the same owner", "another owner"} {
		t.Run(next, func(t *testing.T) {
			db := rig.Database(t)
			s, w := parked(t, db, nil)
			rig.Apply(t, w, rig.Keyed(8, "c/put 7 0")) // the row that was missing
			rig.Ask(t, db, "replay", 1)
			if next == "another owner" {
				w = rig.Own(t, s.Consumer(t, db))
			}
			rig.Apply(t, w, nil)
			rig.Want(t, "letters", rig.LettersNow(t, db), "1 r replayed, 3 r replayed, 5 r replayed, 6 r replayed")
			rig.Want(t, "rows", rig.Table(t, db), "1=6 2=7 3=3 7=5")
			rig.Want(t, "rows of letters", rig.Query(t, db, `SELECT string_agg(info, ', ' ORDER BY seq) FROM idem_ledger WHERE kind = 'l'`),
				"replayed offset 1 for ann: mended, replayed offset 3 for the letter that it waited for, replayed offset 5 for the letter that it waited for, replayed offset 6 for the letter that it waited for")
			rig.Want(t, "the key is free", rig.Apply(t, w, rig.Keyed(9, "a/put 1 9")), idem.Result{Applied: 1})
			w = rig.Own(t, s.Consumer(t, db))
			rig.Want(t, "also for the next owner", rig.Apply(t, w, rig.Keyed(10, "a/put 1 10")), idem.Result{Applied: 1})
		})
	}
}

// A waiting record that is refused becomes the dead letter behind which the rest waits.
func TestWaitingRecordThatIsRefusedHoldsTheRest(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	s, _ := parked(t, db, nil)
	h := &rig.Heard{}
	s.Options = append(s.Options, idem.WithHooks(rig.Dead{Heard: h}))
	c := s.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Ask(t, db, "discard", 1)
	rig.Apply(t, w, nil)
	const refused = "database: no row with this key in table t"
	rig.Want(t, "letters", rig.LettersNow(t, db), "1 x discarded, 3 r replayed, 5 d "+refused+", 6 w")
	rig.Want(t, "reason", rig.Query(t, db, `SELECT reason FROM idem_dead_letter WHERE offs = 5`), refused)
	rig.Want(t, "rows", rig.Table(t, db), "1=3 2=7 3=3")
	rig.Want(t, "hooks", h.Text(), "5  false "+refused)
	rig.Want(t, "counted", fmt.Sprint(c.Stats().Applied, c.Stats().Dead), "1 1")
	w = rig.Own(t, s.Consumer(t, db))
	rig.Want(t, "the key still waits", rig.Apply(t, w, rig.Keyed(8, "a/put 1 8")), idem.Result{Waiting: 1})
	rig.Ask(t, db, "discard", 5)
	rig.Apply(t, w, nil)
	rig.Want(t, "rows", rig.Table(t, db), "1=8 2=7 3=3")
	rig.Want(t, "the key is free", rig.Apply(t, w, rig.Keyed(9, "a/put 1 9")), idem.Result{Applied: 1})
}

// Bug: an owner knows from the table which keys wait.
func TestNextOwnerKnowsWhatWaits(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	s, _ := parked(t, db, nil)
	w := rig.Own(t, s.Consumer(t, db))
	rig.Want(t, "result", rig.Apply(t, w, rig.Keyed(8, "a/put 1 8", "b/put 2 8")), idem.Result{Waiting: 1, Applied: 1})
	rig.Want(t, "letters", rig.LettersNow(t, db), "1 d, 3 w, 5 w, 6 w, 8 w")
}

// A waiting record claims no key: a copy that comes another way is applied, and the waiting one is
// its duplicate then.
func TestWaitingRecordClaimsNoKey(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Policy: parking}.Consumer(t, db))
	msgs := rig.Keyed(0, "a/need 7 1", "a/k: put 1 1", "b/k: put 1 1")
	rig.Want(t, "result", rig.Apply(t, w, msgs), idem.Result{Dead: 1, Waiting: 1, Applied: 1})
	rig.Ask(t, db, "discard", 0)
	rig.Apply(t, w, nil)
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 x discarded, 1 r replayed, without effect: a duplicate of it was applied before")
}

// Whatever is cut off at any step, the records of the key take effect once and in their order.
func TestParkedKeySurvivesACrashAtEachStep(t *testing.T) {
	rig.Lengthy(t)
	for _, step := range []string{fault.BeforeSend, fault.BeforeClaim, fault.Reply} {
		for nth := 1; nth <= 4; nth++ {
			for _, same := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s %d %v", step, nth, same), func(t *testing.T) {
					db := rig.Database(t)
					s, w := parked(t, db, nil)
					rig.Apply(t, w, rig.Keyed(8, "c/put 7 0"))
					rig.Ask(t, db, "replay", 1)
					ctx, cancel := context.WithCancel(t.Context())
					n := 0
					_, err := w.Apply(fault.With(ctx, func(at string) error {
						if at != step {
							return nil
						}
						if n++; n == nth {
							cancel()
							return rig.ErrCut
						}
						return nil
					}), nil)
					if err == nil {
						t.Fatal("nothing was cut off")
					}
					if !same {
						w = rig.Own(t, s.Consumer(t, db))
					}
					rig.Apply(t, w, rig.Keyed(9, "b/put 2 9"))
					rig.Apply(t, w, nil)
					rig.Want(t, "letters", rig.LettersNow(t, db), "1 r replayed, 3 r replayed, 5 r replayed, 6 r replayed")
					rig.Want(t, "rows", rig.Table(t, db), "1=6 2=9 3=3 7=5")
					rig.Want(t, "rows of letters", rig.Query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'l'`), "4")
					rig.Want(t, "the key is free", rig.Apply(t, w, rig.Keyed(10, "a/put 1 10")), idem.Result{Applied: 1})
				})
			}
		}
	}
}

// A dead letter need not keep its record; then it can only be discarded. What waits keeps its own.
func TestDroppedRecordIsDiscardedOnly(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Policy: wire.FailurePolicy{StopAfter: 2, Park: true, Drop: true}}.Consumer(t, db))
	rig.Apply(t, w, rig.Keyed(0, "a/need 7 1", "a/put 1 1", "a/need 8 1"))
	rig.Want(t, "kept", rig.Query(t, db, `SELECT string_agg(offs::text, ' ' ORDER BY offs) FROM idem_dead_letter WHERE record IS NOT NULL`), "1 2")
	found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "test", Topic: rig.Topic, Offset: 0}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = operate.Ask(t.Context(), db, found[:1], "replay", nil, operate.By{Operator: "ann", Reason: "mended"})
	rig.WantText(t, err, "it can only be discarded")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET asked = 'r', asked_at = clock_timestamp() WHERE offs = 0`)
	rig.Apply(t, w, nil)
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d its record is not kept (on_failure.dead_letter_payload, or it is longer than 16 MiB): it can only be discarded, 1 w, 2 w")
	rig.Ask(t, db, "discard", 0)
	rig.Apply(t, w, nil)
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
	rig.Want(t, "kept", rig.Query(t, db, `SELECT string_agg(offs::text, ' ' ORDER BY offs) FROM idem_dead_letter WHERE record IS NOT NULL`), "1")
}

// A topic that parks halts when it has more partitions, and they cannot be confirmed while records
// wait.
func TestPartitionsAreNotConfirmedWhileRecordsWait(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	s := rig.Service{Policy: parking, Edit: func(s *wire.Service) { s.Topics[0].Parks = true }}
	sink := rig.Drive(t, s.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Keyed(0, "a/need 7 1", "a/put 1 1"))
	more := rig.NewSource(nil).Assignment
	more.Partitions++
	sink = rig.Drive(t, s.Consumer(t, db))
	_, err := sink.Assigned(t.Context(), more)
	halted := rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "code", halted.Code, halt.PartitionsChanged)
	name := operate.Name{Consumer: "test", Topic: rig.Topic, Partition: 0}
	confirm := func() error {
		_, err := operate.Release(t.Context(), db, name, operate.Leave{Partitions: more.Partitions}, operate.By{Operator: "ann", Reason: "more"})
		return err
	}
	rig.WantText(t, confirm(), "test.v1 of test has 2 letters behind which records of the same key wait", "such as partition 0 offset 0")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'x'`)
	if err := confirm(); err != nil {
		t.Error(err)
	}
}

// When keep is over the owner discards a dead letter with which nothing waits; one that others
// wait behind stays, and an error is logged.
func TestParkedLettersExpire(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	log, option := rig.Logged()
	w := rig.Own(t, rig.Service{Policy: wire.FailurePolicy{StopAfter: 2, Park: true, Keep: time.Hour}, Options: []idem.Option{option}}.Consumer(t, db))
	c := rig.Service{Policy: parking, Options: []idem.Option{option}}.Consumer(t, db)
	rig.Apply(t, w, rig.Keyed(0, "a/need 7 1", "a/put 1 1", "b/need 7 1"))
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET created_at = created_at - interval '2 hours', expires_at = expires_at - interval '2 hours'`)
	for end := time.Now().Add(time.Minute); rig.LettersNow(t, db) != "0 d, 1 w, 2 d x?"; time.Sleep(10 * time.Millisecond) {
		if err := c.Upkeep(t.Context()); err != nil || time.Now().After(end) {
			t.Fatal(err, rig.LettersNow(t, db))
		}
	}
	rig.Await(t, log, "records are parked behind them", 1)
	rig.Apply(t, w, nil)
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d, 1 w, 2 x discarded")
	rig.Want(t, "b is free, a is not", rig.Apply(t, w, rig.Keyed(3, "a/put 1 3", "b/put 2 3")), idem.Result{Waiting: 1, Applied: 1})
}
