package idem_test

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// Bugs: a claim does not name its generation's token; a filter is kept
// after a failover. The standby that took over had not seen the seal: there the generation
// went on, got another key, and was sealed under another token.
func TestSealTakenBackByAFailoverIsNoticed(t *testing.T) {
	t.Parallel()
	db := database(t)
	log, option := logged()
	c := service{options: []idem.Option{option}}.consumer(t, db)
	w := own(t, c)
	apply(t, w, records(0, "a: put 1 1"))
	rotate(t, db, c)
	apply(t, w, records(1, "b: put 2 2"))
	await(t, log, "filter of sealed keys built", 1)
	apply(t, w, records(2, "c: put 3 3")) // its list is read, its filter in use
	rival := service{}.consumer(t, db)
	idemtest.Exec(t, db, `DROP TRIGGER idem_keys_sealed ON idem_keys_1;
UPDATE idem_key_gen SET token = gen_random_uuid() WHERE gen = 2;
DELETE FROM idem_key_gen WHERE gen = 2;
UPDATE idem_key_gen SET sealed_at = NULL`)
	apply(t, ownPartition(t, rival, 1), records(0, "k: put 7 7", "l: put 8 8"))
	idemtest.Exec(t, db, `CREATE TRIGGER idem_keys_sealed BEFORE INSERT ON idem_keys_1 FOR EACH ROW EXECUTE FUNCTION idem_keys_sealed();
UPDATE idem_key_gen SET sealed_at = clock_timestamp(), seal = gen_random_uuid();
INSERT INTO idem_key_gen (gen, consumer, token, keep) VALUES (2, 'test', gen_random_uuid(), '1 hour')`)
	want(t, "copy", apply(t, w, records(3, "k: put 7 7")), idem.Result{Duplicates: 1})
	want(t, "next copy", apply(t, w, records(4, "l: put 8 8")), idem.Result{Duplicates: 1}) // by what is remembered now
	want(t, "rows", table(t, db), "1=1 2=2 3=3 7=7 8=8")
}

// A failover can take back the first generation, too, together with the fence after it:
// that is noticed as every failover, and the one who takes over makes the generation again.
func TestFirstGenerationTakenBackByAFailoverIsMadeAgain(t *testing.T) {
	t.Parallel()
	db := database(t)
	own(t, service{edit: window(0)}.consumer(t, db)) // before the spec had a key that is stored
	c := service{}.consumer(t, db)
	w := own(t, c)
	idemtest.Exec(t, db, `DELETE FROM idem_key_gen; DROP TABLE idem_keys_1;
DELETE FROM idem_ledger WHERE seq = (SELECT max(seq) FROM idem_ledger)`)
	_, err := w.Apply(t.Context(), records(0, "k: put 1 1"))
	wantError[*idem.FencedError](t, err)
	apply(t, own(t, c), records(0, "k: put 1 1", "k: put 1 1"))
	want(t, "rows", table(t, db), "1=1")
}

// Bug: what was read is kept over a reconnect. The first copy's commit is lost
// in a failover after the second one was found to be a duplicate, and before it was passed.
func TestKnownKeysAreReadAgainOnANewConnection(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	w := own(t, c)
	apply(t, ownPartition(t, service{}.consumer(t, db), 1), records(0, "k: put 1 1"))
	rotate(t, db, c) // so that the key is read, and not met as a race
	ctx := once(t.Context(), fault.BeforeClaim, func() {
		idemtest.Exec(t, db, `DELETE FROM idem_keys; UPDATE idem_key_gen SET keys = NULL; DELETE FROM t`)
		idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database()`)
	})
	if _, err := w.Apply(ctx, records(0, "k: put 1 1")); err == nil {
		t.Fatal("the connection was not lost")
	}
	want(t, "result", apply(t, w, records(0, "k: put 1 1")), idem.Result{Applied: 1})
	want(t, "rows", table(t, db), "1=1")
}

// Bug: a key that this stream claimed after the tail is taken for a duplicate.
// The attempt whose reply was lost is then lost itself, in a failover.
func TestOwnKeyBehindTheTailIsAnAttempt(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{}.consumer(t, db))
	if _, err := w.Apply(fault.With(t.Context(), lose(fault.Reply)), records(0, "k: put 1 1")); err == nil {
		t.Fatal("the reply was not lost")
	}
	ctx := once(t.Context(), fault.BeforeClaim, func() {
		idemtest.Exec(t, db, `DELETE FROM idem_keys; DELETE FROM t; DELETE FROM idem_ledger WHERE kind = 'b'`)
	})
	res, err := w.Apply(ctx, records(0, "k: put 1 1"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "result", res, idem.Result{Applied: 1})
	want(t, "rows", table(t, db), "1=1")
}

// Bug: own recent keys outlive the memory they belong to. A failover takes the
// last commit back, and the partition is taken over again by the same process.
func TestOwnRecentKeysEndWithTheOwner(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	w := own(t, c)
	apply(t, w, records(0, "a: put 1 1"))
	apply(t, w, records(1, "b: put 2 2"))
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE next = 2; DELETE FROM t WHERE id = 2;
DELETE FROM idem_keys WHERE seq = (SELECT max(seq) FROM idem_keys)`)
	_, err := w.Apply(t.Context(), records(2, "c: put 3 3"))
	wantError[*idem.FencedError](t, err)
	want(t, "result", apply(t, own(t, c), records(1, "b: put 2 2", "c: put 3 3")), idem.Result{Applied: 2})
	want(t, "rows", table(t, db), "1=1 2=2 3=3")
}
