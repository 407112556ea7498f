package idem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

// ask asks the owner of partition 0 about the dead letter of an offset.
func ask(t testing.TB, db *pgxpool.Pool, verb string, offset int64) {
	t.Helper()
	found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "test", Topic: topic, Offset: offset}})
	if err == nil {
		_, err = operate.Ask(t.Context(), db, found[:1], verb, nil, operate.By{Operator: "ann", Reason: "mended"})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lettersNow are the letters as "offset state answer", in order.
func lettersNow(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return query(t, db, `SELECT coalesce(string_agg(offs || ' ' || state::text || coalesce(' ' || asked::text || '?', '') || coalesce(' ' || answer, ''), ', ' ORDER BY offs, seq), '') FROM idem_dead_letter`)
}

// kindsOf are the kinds of the chain's rows, each with its position.
func kindsOf(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return query(t, db, `SELECT string_agg(kind::text || next, ' ' ORDER BY seq) FROM idem_ledger`)
}

// A dead letter is decided anew by the code that runs now, in one row of the chain that moves no
// offset; its key counts from then on.
func TestReplayTakesEffectOnce(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "k: ", "@k: "} {
		t.Run("key "+key, func(t *testing.T) {
			db := database(t)
			w := own(t, service{edit: keysAndBriefLocks}.consumer(t, db))
			apply(t, w, records(0, "put 1 1", key+"need 7 5", "put 2 2"))
			want(t, "letters", lettersNow(t, db), "1 d")
			apply(t, w, records(3, "put 7 1")) // the row that it needs
			ask(t, db, "replay", 1)
			want(t, "asked", lettersNow(t, db), "1 d r?")
			apply(t, w, nil)
			want(t, "letters", lettersNow(t, db), "1 r replayed")
			want(t, "rows", table(t, db), "1=1 2=2 7=5")
			want(t, "chain", kindsOf(t, db), "g0 f0 b1 b2 b3 b4 l4") // a search, for the refused one
			want(t, "who", query(t, db, `SELECT info FROM idem_ledger WHERE kind = 'l'`), "replayed offset 1 for ann: mended")
			want(t, "by", query(t, db, `SELECT resolved_by || ' ' || resolved_seq FROM idem_dead_letter`), "ann: mended 6")
			res := apply(t, w, records(4, key+"need 7 5"))
			if key != "" {
				want(t, "a copy behind it", res, idem.Result{Duplicates: 1})
			}
			w = own(t, service{edit: keysAndBriefLocks}.consumer(t, db)) // another owner knows the key, too
			res = apply(t, w, records(5, key+"need 7 5", "put 3 3"))
			if key != "" {
				want(t, "a copy behind another owner's fence", res, idem.Result{Duplicates: 1, Applied: 1})
			}
			want(t, "next", w.Next(), 7)
		})
	}
}

// A copy that was applied before is the event: the letter is resolved, and nothing is written.
func TestReplayOfAnAppliedKeyWritesNothing(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	apply(t, w, records(0, "k: add 1 5000", "k: add 1 5000")) // both refused by the table
	idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT t_v_check`)
	apply(t, w, records(2, "k: add 1 5000"))
	ask(t, db, "replay", 0)
	ask(t, db, "replay", 1)
	apply(t, w, nil)
	const copy = "replayed, without effect: a copy of it was applied before"
	want(t, "letters", lettersNow(t, db), "0 r "+copy+", 1 r "+copy)
	want(t, "rows", table(t, db), "1=5000")
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
			db := database(t)
			mended := true
			w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				switch {
				case mended && row == 2:
					return idem.ErrNotImplemented
				case mended && row == 3:
					_, err := tx.Exec(ctx, `SELECT * FROM not_there`)
					return err
				}
				return idem.Permanent(errors.New("never"))
			}}.consumer(t, db))
			mended = false
			first := c.record
			if name == "stop" {
				first = "nonsense x"
			}
			apply(t, w, records(0, "k: put 1 1", first, "put 2 2"))
			if name == "stop" { // the spec halts at it now
				idemtest.Exec(t, db, `UPDATE idem_dead_letter SET record = overlay(record placing 'stop 1    '::bytea from position('nonsense x'::bytea in record))`)
			}
			mended = true
			before := kindsOf(t, db)
			ask(t, db, "replay", 1)
			apply(t, w, nil)
			got := lettersNow(t, db)
			if len(got) < 4 || got[:4] != "1 d " || fmt.Sprintf("%.40s", got[4:]) != fmt.Sprintf("%.40s", c.answer) {
				t.Errorf("letters: %s, want the answer %q", got, c.answer)
			}
			want(t, "chain", kindsOf(t, db), before)
			apply(t, w, records(3, "put 3 3"))
			want(t, "rows", table(t, db), "1=1 2=2 3=3")
			ask(t, db, "discard", 1)
			apply(t, w, nil)
			want(t, "letters", lettersNow(t, db), "1 x discarded")
			want(t, "chain", kindsOf(t, db), before+" b4 l4")
		})
	}
}

// Whatever is cut off at any step, a replay takes effect once, also by the next owner.
func TestReplaySurvivesACrashAtEachStep(t *testing.T) {
	lengthy(t)
	for i, record := range []string{"k: need 7 1", "@k: need 7 1", "need 7 1", "k: call 7"} {
		for k, step := range []string{fault.BeforeSend, fault.BeforeClaim, fault.AfterAppend, fault.AfterHandler, fault.BeforeCommit, fault.Reply} {
			for _, same := range oneOrBoth(i + k) {
				t.Run(fmt.Sprintf("%s %s %v", record, step, same), func(t *testing.T) {
					t.Parallel()
					db := database(t)
					s := service{edit: keysAndBriefLocks, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
						tag, err := tx.Exec(ctx, `UPDATE t SET v = v + 1 WHERE id = $1`, row)
						if err == nil && tag.RowsAffected() == 0 {
							return idem.Permanent(errors.New("no row"))
						}
						return err
					}}
					w := own(t, s.consumer(t, db))
					apply(t, w, records(0, record))
					apply(t, w, records(1, "put 7 0"))
					ask(t, db, "replay", 0)
					ctx, cancel := context.WithCancel(t.Context())
					struck := false
					_, err := w.Apply(fault.With(ctx, func(at string) error {
						if at == step && !struck {
							struck = true
							cancel()
							return errCut
						}
						return nil
					}), nil)
					if struck != (err != nil) {
						t.Fatalf("struck: %v, error: %v", struck, err)
					}
					if !same {
						w = own(t, s.consumer(t, db))
					}
					apply(t, w, nil)
					apply(t, w, records(2, "put 8 8"))
					want(t, "rows", table(t, db), "7=1 8=8")
					want(t, "letters", lettersNow(t, db), "0 r replayed")
					want(t, "rows of letters", query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'l'`), "1")
				})
			}
		}
	}
}

// Bug: what closed the letter since it was read, without a row of the chain, counts.
func TestReplayOfALetterThatWasClosedHasNoEffect(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	apply(t, w, records(0, "need 7 1", "put 7 0"))
	ask(t, db, "replay", 0)
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
	want(t, "rows", table(t, db), "7=0")
	want(t, "chain", kindsOf(t, db), "g0 f0 b1 b2")
	apply(t, w, records(2, "put 7 3"))
	want(t, "rows", table(t, db), "7=3")
}

// Of two owners, the one that was fenced does nothing, although it read what is asked first.
func TestFencedOwnerReplaysNothing(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := service{}
	w := own(t, s.consumer(t, db))
	apply(t, w, records(0, "need 7 1", "put 7 0"))
	ask(t, db, "replay", 0)
	_, err := w.Apply(fault.With(t.Context(), func(at string) error {
		if at == fault.BeforeClaim {
			apply(t, own(t, s.consumer(t, db)), nil)
		}
		return nil
	}), nil)
	wantError[*idem.FencedError](t, err)
	want(t, "letters", lettersNow(t, db), "0 r replayed")
	want(t, "rows", table(t, db), "7=1")
	want(t, "chain", kindsOf(t, db), "g0 f0 b1 b2 f2 l2")
}

// The second of two operators is told who asked first.
func TestSecondOperatorIsTold(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	apply(t, w, records(0, "need 7 1"))
	found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "test", Topic: topic, Offset: 0}})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, db, "replay", 0)
	_, err = operate.Ask(t.Context(), db, found[:1], "discard", nil, operate.By{Operator: "bob", Reason: "old"})
	wantText(t, err, "a replay is already requested, since 2", "by ann: mended")
	apply(t, w, nil)
	want(t, "letters", lettersNow(t, db), "0 d database: no row with this key in table t")
}

func wantText(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got error %v, want one with %q", err, part)
		}
	}
}

// A handler that fails is called again, as on_failure says; records do not wait for that.
func TestReplayIsTriedAgainWhileRecordsGoOn(t *testing.T) {
	t.Parallel()
	db := database(t)
	calls, fails := 0, 3
	w := own(t, service{
		policy: wire.FailurePolicy{Retries: 2, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond, StopAfter: 9},
		handle: func(ctx context.Context, tx idem.Tx, row int32) error {
			if calls++; calls <= fails {
				return errors.New("not yet")
			}
			_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, $2)`, row, calls)
			return err
		},
	}.consumer(t, db))
	for _, err := w.Apply(t.Context(), records(0, "call 1", "put 2 2")); err != nil; _, err = w.Apply(t.Context(), records(0, "call 1", "put 2 2")) {
	}
	calls, fails = 0, 2
	ask(t, db, "replay", 0)
	for offset := int64(2); lettersNow(t, db) != "0 r replayed"; offset += 2 {
		apply(t, w, nil)
		before := query(t, db, `SELECT max(seq)::text FROM idem_ledger`)
		apply(t, w, records(offset, "put 3 3", "put 4 4"))
		want(t, "rows of the ledger for two records", query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'b' AND seq > $1::text::bigint`, before), "1")
		if offset > 1000 {
			t.Fatal(lettersNow(t, db))
		}
	}
	want(t, "rows", table(t, db), "1=3 2=2 3=3 4=4")
	calls, fails = 0, 100
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET state = 'd'`)
	ask(t, db, "replay", 0)
	for lettersNow(t, db) == "0 d r?" {
		apply(t, w, nil)
	}
	want(t, "letters", lettersNow(t, db), "0 d handler: Test: not yet")
	want(t, "calls", calls, 3)
}
