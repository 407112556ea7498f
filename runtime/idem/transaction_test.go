package idem_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

func TestEveryRecordTakesEffectOnce(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	msgs := records(0, "a: put 1 10", "b: put 2 20", "skip 0", "a: put 1 10", "c: put 1 11")
	want(t, "result", apply(t, w, msgs), idem.Result{Applied: 3, Duplicates: 1, Ignored: 1})
	want(t, "redelivered", apply(t, w, msgs), idem.Result{Duplicates: 5})
	want(t, "sent again", apply(t, w, records(5, "b: put 2 20", "a: put 1 10")), idem.Result{Duplicates: 2})
	want(t, "rows", table(t, db), "1=11 2=20")
	want(t, "next", w.Next(), 7)
}

func TestKnownKeyWithOtherContentIsAConflict(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	w := own(t, c)
	want(t, "in one batch", apply(t, w, records(0, "a: put 1 10", "a: put 1 99")), idem.Result{Applied: 1, Conflicts: 1})
	want(t, "later", apply(t, w, records(2, "a: put 1 98", "a: put 1 10")), idem.Result{Conflicts: 1, Duplicates: 1})
	want(t, "rows", table(t, db), "1=10")
	want(t, "dead letters", letters(t, db), "1 conflict, 2 conflict")
	want(t, "searches", c.Stats().Searches, 0)
}

// Planted bug: a dead letter claims its key, so the good copy is dropped.
func TestDeadLetterDoesNotClaimItsKey(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	apply(t, w, records(0, "a: put 1 5000"))
	want(t, "rows after the refused copy", table(t, db), "")
	apply(t, w, records(1, "b: put 2 20", "a: put 1 10"))
	want(t, "rows after the good copy", table(t, db), "1=10 2=20")
	want(t, "dead letters", letters(t, db), "0 database")
}

// A copy in the batch is dropped because the first one stands; when the first one dies, the
// copy must be reconsidered.
func TestCopyIsReconsideredWhenTheFirstDies(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	apply(t, w, records(0, "a: need 5 1", "put 5 0", "a: need 5 1"))
	want(t, "dead letters", letters(t, db), "0 database")
	want(t, "rows", table(t, db), "5=1")
}

func TestRefusedRecordIsFoundInItsBatch(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	w := own(t, c)
	msgs := records(0, "put 1 1", "put 2 2", "put 3 5000", "put 4 4", "need 9 9", "put 6 6", "nonsense x", "put 8 8")
	want(t, "result", apply(t, w, msgs), idem.Result{Applied: 5, Dead: 3})
	want(t, "rows", table(t, db), "1=1 2=2 4=4 6=6 8=8")
	want(t, "dead letters", letters(t, db), "2 database, 4 database, 6 decode")
	want(t, "searches", c.Stats().Searches, 2)
}

func TestAlwaysEmptyTablesStayEmpty(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	apply(t, w, records(0, "a: need 9 9", "put 1 1"))
	want(t, "reason", query(t, db, `SELECT reason FROM idem_dead_letter`), "database: Test: no row with this key in table t")
	want(t, "event", query(t, db, `SELECT event FROM idem_dead_letter`), "Test")
	want(t, "rows", query(t, db, `SELECT (SELECT count(*) FROM idem_step_refused)::text || (SELECT count(*) FROM idem_assert)::text`), "00")
}

// Two live writers: the older one must be refused before any effect.
func TestOldOwnerIsRefused(t *testing.T) {
	t.Parallel()
	db := database(t)
	old := own(t, service{}.consumer(t, db))
	apply(t, old, records(0, "put 1 1"))
	now := own(t, service{}.consumer(t, db))
	_, err := old.Apply(t.Context(), records(1, "put 2 2"))
	wantError[*idem.FencedError](t, err)
	apply(t, now, records(1, "put 2 3"))
	_, err = old.Apply(t.Context(), records(2, "put 2 4"))
	wantError[*idem.FencedError](t, err)
	want(t, "rows", table(t, db), "1=1 2=3")
}

// Planted bugs: predecessor not checked; predecessor compared by seq and position only.
func TestOwnerWhoseLedgerWasRestoredIsRefused(t *testing.T) {
	t.Parallel()
	for name, restore := range map[string]string{
		"tail gone":         `DELETE FROM idem_ledger WHERE seq = (SELECT max(seq) FROM idem_ledger)`,
		"tail is another":   `UPDATE idem_ledger SET token = gen_random_uuid() WHERE seq = (SELECT max(seq) FROM idem_ledger)`,
		"two rows are gone": `DELETE FROM idem_ledger WHERE seq > 0`,
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			w := own(t, service{}.consumer(t, db))
			apply(t, w, records(0, "put 1 1"))
			idemtest.Exec(t, db, restore)
			_, err := w.Apply(t.Context(), records(1, "put 2 2"))
			wantError[*idem.FencedError](t, err)
			want(t, "rows", table(t, db), "1=1")
		})
	}
}

var errLost = errors.New("the reply is lost")

func lose(step string) func(string) error {
	return func(at string) error {
		if at == step {
			return errLost
		}
		return nil
	}
}

// Planted bugs: token per writer; own token found, advance to my end; reply lost, forget.
func TestLostReplyIsSettledByAppendingAgain(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	w := own(t, c)
	lost := fault.With(t.Context(), lose(fault.Reply))
	if _, err := w.Apply(lost, records(0, "a: put 1 1", "b: put 2 2")); err == nil {
		t.Fatal("the reply was not lost")
	}
	// Another boundary than the attempt that committed: its own must be adopted.
	want(t, "again", apply(t, w, records(0, "a: put 1 1", "b: put 2 2", "c: put 3 3")), idem.Result{Applied: 3})
	want(t, "rows", table(t, db), "1=1 2=2 3=3")
	want(t, "next", w.Next(), 3)
	want(t, "chain", query(t, db, `SELECT string_agg(prev || '-' || next || kind::text, ' ' ORDER BY seq) FROM idem_ledger`), "0-0g 0-0f 0-2b 2-3b")
	want(t, "counted", c.Stats().Applied, 3)
}

func TestLostReplyOfAnotherBoundaryIsAdoptedWithIts(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	lost := fault.With(t.Context(), lose(fault.Reply))
	if _, err := w.Apply(lost, records(0, "put 1 1", "put 2 2", "put 3 3")); err == nil {
		t.Fatal("the reply was not lost")
	}
	apply(t, w, records(0, "put 1 1"))
	want(t, "next", w.Next(), 3)
	want(t, "rows", table(t, db), "1=1 2=2 3=3")
}

func TestDeferredConstraintIsNoProgress(t *testing.T) {
	t.Parallel()
	db := database(t)
	idemtest.Exec(t, db, `CREATE TABLE parent (id integer PRIMARY KEY);
ALTER TABLE t ADD FOREIGN KEY (v) REFERENCES parent DEFERRABLE INITIALLY DEFERRED; INSERT INTO parent VALUES (1), (2)`)
	w := own(t, service{}.consumer(t, db))
	apply(t, w, records(0, "put 1 1", "put 5 5", "put 2 2"))
	want(t, "rows", table(t, db), "1=1 2=2")
	want(t, "dead letters", letters(t, db), "1 database")
}

// A user table's unique violation is a record's fault, never taken for the ledger's.
func TestViolationOfAUserTableIsNotTheLedgers(t *testing.T) {
	t.Parallel()
	db := database(t)
	idemtest.Exec(t, db, `INSERT INTO t VALUES (1, 1)`)
	w := own(t, service{}.consumer(t, db))
	apply(t, w, records(0, "add 1 2", "add 2 2"))
	want(t, "dead letters", letters(t, db), "0 database")
	want(t, "rows", table(t, db), "1=1 2=2")
}

func TestDatabaseErrorsThatAreNoRecordsFaultHalt(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	w := own(t, c)
	idemtest.Exec(t, db, `DROP TABLE t`)
	_, err := w.Apply(t.Context(), records(0, "put 1 1"))
	wantError[*idem.HaltedError](t, err)
	want(t, "dead letters", letters(t, db), "")
	want(t, "position", query(t, db, `SELECT max(next)::text FROM idem_ledger`), "0")
}

func TestRaceForAKeyHasOneWinner(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	one := own(t, c)
	two, err := c.Own(t.Context(), topic, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The first claims the key after the second has read that nobody has it.
	raced := false
	race := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeClaim && !raced {
			raced = true
			apply(t, one, records(0, "a: put 1 1"))
		}
		return nil
	})
	res, err := two.Apply(race, records(0, "a: put 1 1", "b: put 2 2"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "raced", raced, true)
	want(t, "second", res, idem.Result{Applied: 1, Duplicates: 1})
	want(t, "rows", table(t, db), "1=1 2=2")
}

func TestStopHaltsBeforeTheRecord(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	_, err := w.Apply(t.Context(), records(0, "put 1 1", "stop 0", "put 2 2"))
	want(t, "halted before", wantError[*idem.HaltedError](t, err).Offset, 1)
	want(t, "rows", table(t, db), "1=1")
}

func TestTooLargePayloadIsADeadLetter(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{edit: func(s *wire.Service) { s.Limits.MaxPayload = 10 }}.consumer(t, db))
	apply(t, w, records(0, "put 1 0000000000001", "put 2 2"))
	want(t, "dead letters", letters(t, db), "0 too_large")
	want(t, "rows", table(t, db), "2=2")
}

// A crash at any step of a batch, and a restart, leaves every record applied once.
func TestCrashAtEveryStep(t *testing.T) {
	lengthy(t)
	handle := func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `UPDATE t SET v = v + 1 WHERE id = $1`, row)
		return err
	}
	log := records(0, "a: put 1 10", "b: call 1", "put 2 20", "call 2", "c: put 3 30", "b: call 1")
	for _, style := range []string{"calls", "declarative"} {
		for n := 1; ; n++ {
			db := database(t)
			left := n
			crash := fault.With(t.Context(), func(string) error {
				if left--; left == 0 {
					return errLost
				}
				return nil
			})
			msgs := log
			if style == "declarative" {
				msgs = records(0, "a: put 1 11", "put 2 21", "c: put 3 30", "a: put 1 11")
			}
			s := service{handle: handle, policy: wire.FailurePolicy{Retries: 1}}
			_, err := own(t, s.consumer(t, db)).Apply(crash, msgs)
			apply(t, own(t, s.consumer(t, db)), msgs)
			want(t, style+" rows", table(t, db), "1=11 2=21 3=30")
			want(t, style+" dead letters", letters(t, db), "")
			if err == nil {
				break
			}
		}
	}
}

// A record's Kafka key is bytes: whatever they are, the record takes effect, its dead letter
// keeps them as they are, and no log line shows them.
func TestBinaryRecordKeys(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	keys := [][]byte{nil, {}, {0}, {0xff, 0xfe, 0}, {0xc3, 0x28}, []byte("a-1"), {'a', 0, 'b'}}
	msgs := records(0, "put 0 1", "put 1 1", "put 2 1", "put 3 1", "put 4 1", "put 5 1", "put 6 1")
	bad := records(7, "x", "x", "x", "x", "x", "x", "x")
	for i, key := range keys {
		msgs[i].Key, bad[i].Key = key, key
	}
	want(t, "result", apply(t, w, append(msgs, bad...)), idem.Result{Applied: 7, Dead: 7})
	for i, key := range keys {
		// version, marks, time unknown (10 bytes), then the key: its length plus one (0 is null), its
		// bytes
		stored := append([]byte{byte(len(key) + 1)}, key...)
		if key == nil {
			stored = []byte{0}
		}
		got := query(t, db, `SELECT encode(substring(record FROM 13 FOR $2), 'hex') FROM idem_dead_letter WHERE offs = $1`, 7+i, len(stored))
		want(t, fmt.Sprintf("key %d of the dead letter", i), got, hex.EncodeToString(stored))
		hash := "none"
		if key != nil {
			sum := sha256.Sum256(append([]byte("idemgen order key"), key...))
			hash = hex.EncodeToString(sum[:16])
		}
		want(t, fmt.Sprintf("hash of key %d", i), query(t, db, `SELECT coalesce(replace(order_key::text, '-', ''), 'none') || coalesce(event, $$none$$) FROM idem_dead_letter WHERE offs = $1`, 7+i), hash+"Test")
	}
}
