package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

func TestEveryRecordTakesEffectOnce(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	msgs := rig.Records(0, "a: put 1 10", "b: put 2 20", "skip 0", "a: put 1 10", "c: put 1 11")
	rig.Want(t, "result", rig.Apply(t, w, msgs), idem.Result{Applied: 3, Duplicates: 1, Ignored: 1})
	rig.Want(t, "redelivered", rig.Apply(t, w, msgs), idem.Result{Duplicates: 5})
	rig.Want(t, "sent again", rig.Apply(t, w, rig.Records(5, "b: put 2 20", "a: put 1 10")), idem.Result{Duplicates: 2})
	rig.Want(t, "rows", rig.Table(t, db), "1=11 2=20")
	rig.Want(t, "next", w.Next(), 7)
}

func TestKnownKeyWithOtherContentIsAConflict(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Want(t, "in one batch", rig.Apply(t, w, rig.Records(0, "a: put 1 10", "a: put 1 99")), idem.Result{Applied: 1, Conflicts: 1})
	rig.Want(t, "later", rig.Apply(t, w, rig.Records(2, "a: put 1 98", "a: put 1 10")), idem.Result{Conflicts: 1, Duplicates: 1})
	rig.Want(t, "rows", rig.Table(t, db), "1=10")
	rig.Want(t, "dead letters", rig.Letters(t, db), "1 conflict, 2 conflict")
	rig.Want(t, "searches", c.Stats().Searches, 0)
}

// Planted bug: a dead letter claims its key, so the good copy is dropped.
func TestDeadLetterDoesNotClaimItsKey(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "a: put 1 5000"))
	rig.Want(t, "rows after the refused copy", rig.Table(t, db), "")
	rig.Apply(t, w, rig.Records(1, "b: put 2 20", "a: put 1 10"))
	rig.Want(t, "rows after the good copy", rig.Table(t, db), "1=10 2=20")
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 database")
}

// A copy in the batch is dropped because the first one stands; when the first one dies, the
// copy must be reconsidered.
func TestCopyIsReconsideredWhenTheFirstDies(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "a: need 5 1", "put 5 0", "a: need 5 1"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 database")
	rig.Want(t, "rows", rig.Table(t, db), "5=1")
}

func TestRefusedRecordIsFoundInItsBatch(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	msgs := rig.Records(0, "put 1 1", "put 2 2", "put 3 5000", "put 4 4", "need 9 9", "put 6 6", "nonsense x", "put 8 8")
	rig.Want(t, "result", rig.Apply(t, w, msgs), idem.Result{Applied: 5, Dead: 3})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 4=4 6=6 8=8")
	rig.Want(t, "dead letters", rig.Letters(t, db), "2 database, 4 database, 6 decode")
	rig.Want(t, "searches", c.Stats().Searches, 2)
}

func TestAlwaysEmptyTablesStayEmpty(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "a: need 9 9", "put 1 1"))
	rig.Want(t, "reason", rig.Query(t, db, `SELECT reason FROM idem_dead_letter`), "database: Test: no row with this key in table t")
	rig.Want(t, "event", rig.Query(t, db, `SELECT event FROM idem_dead_letter`), "Test")
	rig.Want(t, "rows", rig.Query(t, db, `SELECT (SELECT count(*) FROM idem_step_refused)::text || (SELECT count(*) FROM idem_assert)::text`), "00")
}

// Two live writers: the older one must be refused before any effect.
func TestOldOwnerIsRefused(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	old := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, old, rig.Records(0, "put 1 1"))
	now := rig.Own(t, rig.Service{}.Consumer(t, db))
	_, err := old.Apply(t.Context(), rig.Records(1, "put 2 2"))
	rig.WantError[*idem.FencedError](t, err)
	rig.Apply(t, now, rig.Records(1, "put 2 3"))
	_, err = old.Apply(t.Context(), rig.Records(2, "put 2 4"))
	rig.WantError[*idem.FencedError](t, err)
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=3")
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
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "put 1 1"))
			idemtest.Exec(t, db, restore)
			_, err := w.Apply(t.Context(), rig.Records(1, "put 2 2"))
			rig.WantError[*idem.FencedError](t, err)
			rig.Want(t, "rows", rig.Table(t, db), "1=1")
		})
	}
}

// Planted bugs: token per writer; own token found, advance to my end; reply lost, forget.
func TestLostReplyIsSettledByAppendingAgain(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	lost := fault.With(t.Context(), rig.Lose(fault.Reply))
	if _, err := w.Apply(lost, rig.Records(0, "a: put 1 1", "b: put 2 2")); err == nil {
		t.Fatal("the reply was not lost")
	}
	// Another boundary than the attempt that committed: its own must be adopted.
	rig.Want(t, "again", rig.Apply(t, w, rig.Records(0, "a: put 1 1", "b: put 2 2", "c: put 3 3")), idem.Result{Applied: 3})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3")
	rig.Want(t, "next", w.Next(), 3)
	rig.Want(t, "chain", rig.Query(t, db, `SELECT string_agg(prev || '-' || next || kind::text, ' ' ORDER BY seq) FROM idem_ledger`), "0-0g 0-0f 0-2b 2-3b")
	rig.Want(t, "counted", c.Stats().Applied, 3)
}

func TestLostReplyOfAnotherBoundaryIsAdoptedWithIts(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	lost := fault.With(t.Context(), rig.Lose(fault.Reply))
	if _, err := w.Apply(lost, rig.Records(0, "put 1 1", "put 2 2", "put 3 3")); err == nil {
		t.Fatal("the reply was not lost")
	}
	rig.Apply(t, w, rig.Records(0, "put 1 1"))
	rig.Want(t, "next", w.Next(), 3)
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3")
}

func TestDeferredConstraintIsNoProgress(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE TABLE parent (id integer PRIMARY KEY);
ALTER TABLE t ADD FOREIGN KEY (v) REFERENCES parent DEFERRABLE INITIALLY DEFERRED; INSERT INTO parent VALUES (1), (2)`)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 1", "put 5 5", "put 2 2"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
	rig.Want(t, "dead letters", rig.Letters(t, db), "1 database")
}

// A user table's unique violation is a record's fault, never taken for the ledger's.
func TestViolationOfAUserTableIsNotTheLedgers(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `INSERT INTO t VALUES (1, 1)`)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "add 1 2", "add 2 2"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 database")
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

func TestDatabaseErrorsThatAreNoRecordsFaultHalt(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	idemtest.Exec(t, db, `DROP TABLE t`)
	_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1"))
	rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "dead letters", rig.Letters(t, db), "")
	rig.Want(t, "position", rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`), "0")
}

func TestRaceForAKeyHasOneWinner(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	one := rig.Own(t, c)
	two, err := c.Own(t.Context(), rig.Topic, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The first claims the key after the second has read that nobody has it.
	raced := false
	race := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeClaim && !raced {
			raced = true
			rig.Apply(t, one, rig.Records(0, "a: put 1 1"))
		}
		return nil
	})
	res, err := two.Apply(race, rig.Records(0, "a: put 1 1", "b: put 2 2"))
	if err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "raced", raced, true)
	rig.Want(t, "second", res, idem.Result{Applied: 1, Duplicates: 1})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

func TestStopHaltsBeforeTheRecord(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "stop 0", "put 2 2"))
	rig.Want(t, "halted before", rig.WantError[*idem.HaltedError](t, err).Offset, 1)
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
}

func TestTooLargePayloadIsADeadLetter(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Edit: func(s *wire.Service) { s.Limits.MaxPayload = 10 }}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 1 0000000000001", "put 2 2"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 too_large")
	rig.Want(t, "rows", rig.Table(t, db), "2=2")
}

// A crash at any step of a batch, and a restart, leaves every record applied once.
func TestCrashAtEveryStep(t *testing.T) {
	rig.Lengthy(t)
	handle := func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `UPDATE t SET v = v + 1 WHERE id = $1`, row)
		return err
	}
	log := rig.Records(0, "a: put 1 10", "b: call 1", "put 2 20", "call 2", "c: put 3 30", "b: call 1")
	for _, style := range []string{"calls", "declarative"} {
		for n := 1; ; n++ {
			db := rig.Database(t)
			left := n
			crash := fault.With(t.Context(), func(string) error {
				if left--; left == 0 {
					return rig.ErrLost
				}
				return nil
			})
			msgs := log
			if style == "declarative" {
				msgs = rig.Records(0, "a: put 1 11", "put 2 21", "c: put 3 30", "a: put 1 11")
			}
			s := rig.Service{Handle: handle, Policy: wire.FailurePolicy{Retries: 1}}
			_, err := rig.Own(t, s.Consumer(t, db)).Apply(crash, msgs)
			rig.Apply(t, rig.Own(t, s.Consumer(t, db)), msgs)
			rig.Want(t, style+" rows", rig.Table(t, db), "1=11 2=21 3=30")
			rig.Want(t, style+" dead letters", rig.Letters(t, db), "")
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
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{}.Consumer(t, db))
	keys := [][]byte{nil, {}, {0}, {0xff, 0xfe, 0}, {0xc3, 0x28}, []byte("a-1"), {'a', 0, 'b'}}
	msgs := rig.Records(0, "put 0 1", "put 1 1", "put 2 1", "put 3 1", "put 4 1", "put 5 1", "put 6 1")
	bad := rig.Records(7, "x", "x", "x", "x", "x", "x", "x")
	for i, key := range keys {
		msgs[i].Key, bad[i].Key = key, key
	}
	rig.Want(t, "result", rig.Apply(t, w, append(msgs, bad...)), idem.Result{Applied: 7, Dead: 7})
	for i, key := range keys {
		// version, marks, time unknown (10 bytes), then the key: its length plus one (0 is null), its
		// bytes
		stored := append([]byte{byte(len(key) + 1)}, key...)
		if key == nil {
			stored = []byte{0}
		}
		got := rig.Query(t, db, `SELECT encode(substring(record FROM 13 FOR $2), 'hex') FROM idem_dead_letter WHERE offs = $1`, 7+i, len(stored))
		rig.Want(t, fmt.Sprintf("key %d of the dead letter", i), got, hex.EncodeToString(stored))
		hash := "none"
		if key != nil {
			sum := sha256.Sum256(append([]byte("idemgen order key"), key...))
			hash = hex.EncodeToString(sum[:16])
		}
		rig.Want(t, fmt.Sprintf("hash of key %d", i), rig.Query(t, db, `SELECT coalesce(replace(order_key::text, '-', ''), 'none') || coalesce(event, $$none$$) FROM idem_dead_letter WHERE offs = $1`, 7+i), hash+"Test")
	}
}
