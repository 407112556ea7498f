package deadletter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// kindsOf are the kinds of the chain's rows, each with its position.
func kindsOf(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return rig.Query(t, db, `SELECT string_agg(kind::text || next, ' ' ORDER BY seq) FROM idem_ledger`)
}

// A dead letter is decided anew by the code that runs now, in one row of the chain that moves no
// offset; its key counts from then on.
func TestReplayTakesEffectOnce(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "k: ", "@k: "} {
		t.Run("key "+key, func(t *testing.T) {
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{Edit: rig.KeysAndBriefLocks}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "put 1 1", key+"need 7 5", "put 2 2"))
			rig.Want(t, "letters", rig.LettersNow(t, db), "1 d")
			rig.Apply(t, w, rig.Records(3, "put 7 1")) // the row that it needs
			rig.Ask(t, db, "replay", 1)
			rig.Want(t, "asked", rig.LettersNow(t, db), "1 d r?")
			rig.Apply(t, w, nil)
			rig.Want(t, "letters", rig.LettersNow(t, db), "1 r replayed")
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 7=5")
			rig.Want(t, "chain", kindsOf(t, db), "g0 f0 b1 b2 b3 b4 l4") // a search, for the refused one
			rig.Want(t, "who", rig.Query(t, db, `SELECT info FROM idem_ledger WHERE kind = 'l'`), "replayed offset 1 for ann: mended")
			rig.Want(t, "by", rig.Query(t, db, `SELECT resolved_by || ' ' || resolved_seq FROM idem_dead_letter`), "ann: mended 6")
			res := rig.Apply(t, w, rig.Records(4, key+"need 7 5"))
			if key != "" {
				rig.Want(t, "a copy behind it", res, idem.Result{Duplicates: 1})
			}
			w = rig.Own(t, rig.Service{Edit: rig.KeysAndBriefLocks}.Consumer(t, db)) // another owner knows the key, too
			res = rig.Apply(t, w, rig.Records(5, key+"need 7 5", "put 3 3"))
			if key != "" {
				rig.Want(t, "a copy behind another owner's fence", res, idem.Result{Duplicates: 1, Applied: 1})
			}
			rig.Want(t, "next", w.Next(), 7)
		})
	}
}

// A copy that was applied before is the event: the letter is resolved, and nothing is written.
func TestReplayOfAnAppliedKeyWritesNothing(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "k: add 1 5000", "k: add 1 5000")) // both refused by the table
	idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT t_v_check`)
	rig.Apply(t, w, rig.Records(2, "k: add 1 5000"))
	rig.Ask(t, db, "replay", 0)
	rig.Ask(t, db, "replay", 1)
	rig.Apply(t, w, nil)
	const copy = "replayed, without effect: a duplicate of it was applied before"
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 r "+copy+", 1 r "+copy)
	rig.Want(t, "rows", rig.Table(t, db), "1=5000")
}

// A letter whose record is refused again stays dead, with the new reason as the answer; nothing
// else moves, and it can be asked about again.
func TestReplayThatFailsStaysDead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ record, answer string }{
		"decode":   {"nonsense x", "decode: Test: row must be a number"},
		"database": {"j: need 9 9", "database: Test: no row with this key in table t"},
		"conflict": {"k: put 1 2", "conflict: Test: the key was used before with different content; the first copy is in row 2 of the ledger of test.v1/0"},
		"handler":  {"call 1", "handler: Test: never"},
		"missing":  {"call 2", "handler Test is not implemented"},
		"stop":     {"stop 1", "unknown_type: the event type \"stop\" is not in the spec"},
		"schema":   {"call 3", "handler Test got an error unrelated to any record"},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			mended := true
			w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				switch {
				case mended && row == 2:
					return idem.ErrNotImplemented
				case mended && row == 3:
					_, err := tx.Exec(ctx, `SELECT * FROM not_there`)
					return err
				}
				return idem.Permanent(errors.New("never"))
			}}.Consumer(t, db))
			mended = false
			first := c.record
			if name == "stop" {
				first = "nonsense x"
			}
			rig.Apply(t, w, rig.Records(0, "k: put 1 1", first, "put 2 2"))
			if name == "stop" { // the spec halts at it now
				idemtest.Exec(t, db, `UPDATE idem_dead_letter SET record = overlay(record placing 'stop 1    '::bytea from position('nonsense x'::bytea in record))`)
			}
			mended = true
			before := kindsOf(t, db)
			rig.Ask(t, db, "replay", 1)
			rig.Apply(t, w, nil)
			got := rig.LettersNow(t, db)
			if len(got) < 4 || got[:4] != "1 d " || fmt.Sprintf("%.40s", got[4:]) != fmt.Sprintf("%.40s", c.answer) {
				t.Errorf("letters: %s, want the answer %q", got, c.answer)
			}
			rig.Want(t, "chain", kindsOf(t, db), before)
			rig.Apply(t, w, rig.Records(3, "put 3 3"))
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3")
			rig.Ask(t, db, "discard", 1)
			rig.Apply(t, w, nil)
			rig.Want(t, "letters", rig.LettersNow(t, db), "1 x discarded")
			rig.Want(t, "chain", kindsOf(t, db), before+" b4 l4")
		})
	}
}

// Whatever is cut off at any step, a replay takes effect once, also by the next owner.
func TestReplaySurvivesACrashAtEachStep(t *testing.T) {
	rig.Lengthy(t)
	for i, record := range []string{"k: need 7 1", "@k: need 7 1", "need 7 1", "k: call 7"} {
		for k, step := range []string{fault.BeforeSend, fault.BeforeClaim, fault.AfterAppend, fault.AfterHandler, fault.BeforeCommit, fault.Reply} {
			for _, same := range rig.OneOrBoth(i + k) {
				t.Run(fmt.Sprintf("%s %s %v", record, step, same), func(t *testing.T) {
					t.Parallel()
					db := rig.Database(t)
					s := rig.Service{Edit: rig.KeysAndBriefLocks, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
						tag, err := tx.Exec(ctx, `UPDATE t SET v = v + 1 WHERE id = $1`, row)
						if err == nil && tag.RowsAffected() == 0 {
							return idem.Permanent(errors.New("no row"))
						}
						return err
					}}
					w := rig.Own(t, s.Consumer(t, db))
					rig.Apply(t, w, rig.Records(0, record))
					rig.Apply(t, w, rig.Records(1, "put 7 0"))
					rig.Ask(t, db, "replay", 0)
					ctx, cancel := context.WithCancel(t.Context())
					struck := false
					_, err := w.Apply(fault.With(ctx, func(at string) error {
						if at == step && !struck {
							struck = true
							cancel()
							return rig.ErrCut
						}
						return nil
					}), nil)
					if struck != (err != nil) {
						t.Fatalf("struck: %v, error: %v", struck, err)
					}
					if !same {
						w = rig.Own(t, s.Consumer(t, db))
					}
					rig.Apply(t, w, nil)
					rig.Apply(t, w, rig.Records(2, "put 8 8"))
					rig.Want(t, "rows", rig.Table(t, db), "7=1 8=8")
					rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
					rig.Want(t, "rows of letters", rig.Query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'l'`), "1")
				})
			}
		}
	}
}

// Bug: what closed the letter since it was read, without a row of the chain, counts.
func TestReplayOfALetterThatWasClosedHasNoEffect(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "need 7 1", "put 7 0"))
	rig.Ask(t, db, "replay", 0)
	closed := false
	_, err := w.Apply(fault.With(t.Context(), func(at string) error {
		if at == fault.BeforeClaim && !closed {
			closed = true
			idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'x'`)
		}
		return nil
	}), nil)
	if err != nil || !closed {
		t.Fatal(err, closed)
	}
	rig.Want(t, "rows", rig.Table(t, db), "7=0")
	rig.Want(t, "chain", kindsOf(t, db), "g0 f0 b1 b2")
	rig.Apply(t, w, rig.Records(2, "put 7 3"))
	rig.Want(t, "rows", rig.Table(t, db), "7=3")
}

// Of two owners, the one that was fenced does nothing, although it read what is asked first.
func TestFencedOwnerReplaysNothing(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	s := rig.Service{}
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "need 7 1", "put 7 0"))
	rig.Ask(t, db, "replay", 0)
	_, err := w.Apply(fault.With(t.Context(), func(at string) error {
		if at == fault.BeforeClaim {
			rig.Apply(t, rig.Own(t, s.Consumer(t, db)), nil)
		}
		return nil
	}), nil)
	rig.WantError[*idem.FencedError](t, err)
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 r replayed")
	rig.Want(t, "rows", rig.Table(t, db), "7=1")
	rig.Want(t, "chain", kindsOf(t, db), "g0 f0 b1 b2 f2 l2")
}

// The second of two operators is told who asked first.
func TestSecondOperatorIsTold(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "need 7 1"))
	found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "test", Topic: rig.Topic, Offset: 0}})
	if err != nil {
		t.Fatal(err)
	}
	rig.Ask(t, db, "replay", 0)
	_, err = operate.Ask(t.Context(), db, found[:1], "discard", nil, operate.By{Operator: "bob", Reason: "old"})
	rig.WantText(t, err, "a replay is already requested, since 2", "by ann: mended")
	rig.Apply(t, w, nil)
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d database: no row with this key in table t")
}

// A handler that fails is called again, as on_failure says; records do not wait for that.
func TestReplayIsTriedAgainWhileRecordsGoOn(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	calls, fails := 0, 3
	w := rig.Own(t, rig.Service{
		Policy: wire.FailurePolicy{Retries: 2, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond, StopAfter: 9},
		Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
			if calls++; calls <= fails {
				return errors.New("not yet")
			}
			_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, $2)`, row, calls)
			return err
		},
	}.Consumer(t, db))
	for _, err := w.Apply(t.Context(), rig.Records(0, "call 1", "put 2 2")); err != nil; _, err = w.Apply(t.Context(), rig.Records(0, "call 1", "put 2 2")) {
	}
	calls, fails = 0, 2
	rig.Ask(t, db, "replay", 0)
	for offset := int64(2); rig.LettersNow(t, db) != "0 r replayed"; offset += 2 {
		rig.Apply(t, w, nil)
		before := rig.Query(t, db, `SELECT max(seq)::text FROM idem_ledger`)
		rig.Apply(t, w, rig.Records(offset, "put 3 3", "put 4 4"))
		rig.Want(t, "rows of the ledger for two records", rig.Query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'b' AND seq > $1::text::bigint`, before), "1")
		if offset > 1000 {
			t.Fatal(rig.LettersNow(t, db))
		}
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=3 2=2 3=3 4=4")
	calls, fails = 0, 100
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'd'`)
	rig.Ask(t, db, "replay", 0)
	for rig.LettersNow(t, db) == "0 d r?" {
		rig.Apply(t, w, nil)
	}
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d handler: Test: not yet")
	rig.Want(t, "calls", calls, 3)
}
