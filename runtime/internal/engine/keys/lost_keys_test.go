package keys_test

import (
	"bytes"
	"cmp"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// sealedKeys returns a database with a sealed generation of three keys, which were counted, and
// with one key in the open generation. The position is 4.
func sealedKeys(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "a: put 1 1", "b: put 2 2", "c: put 3 3"))
	rig.Rotate(t, db, c)
	rig.Apply(t, w, rig.Records(3, "d: put 4 4"))
	c.Close()
	rig.Want(t, "keys of the sealed generation", rig.Query(t, db, `SELECT keys::text FROM idem_key_gen WHERE gen = 1`), "3")
	return db
}

// copiesOfAll checks that duplicates of all events in the database are recognized.
func copiesOfAll(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	c := rig.Service{}.Consumer(t, db)
	defer c.Close()
	got := rig.Apply(t, rig.OwnPartition(t, c, 1), rig.Records(0, "a: put 1 1", "b: put 2 2", "c: put 3 3", "d: put 4 4"))
	rig.Want(t, "copies", got, idem.Result{Duplicates: 4})
}

// A restore has all keys, whether pg_restore makes everything at once or loads rows into tables
// that are there. If it runs triggers, it loses those of the sealed generation, and a start is
// refused.
func TestRestoredDatabaseKnowsItsKeys(t *testing.T) {
	t.Parallel()
	db := sealedKeys(t)
	dump := filepath.Join(t.TempDir(), "dump")
	if out, err := exec.CommandContext(t.Context(), "pg_dump", "--format=custom", "--file="+dump, address(db)).CombinedOutput(); err != nil {
		t.Skipf("pg_dump cannot dump this server: %v: %s", err, out)
	}
	restore := func(db *pgxpool.Pool, args ...string) (err error) {
		args = append(args, "--dbname="+address(db), "--no-owner", dump)
		out, err := exec.CommandContext(t.Context(), "pg_restore", args...).CombinedOutput()
		if err != nil {
			t.Logf("pg_restore %v: %v\n%s", args, err, out)
		}
		return err
	}
	whole := idemtest.DB(t)
	rig.Do(t, func() error { return restore(whole) })
	copiesOfAll(t, whole)

	steps := idemtest.DB(t)
	rig.Do(t, func() error { return restore(steps, "--schema-only") })
	rig.Do(t, func() error { return restore(steps, "--data-only", "--disable-triggers") })
	copiesOfAll(t, steps)

	lossy := idemtest.DB(t)
	rig.Do(t, func() error { return restore(lossy, "--schema-only") })
	if restore(lossy, "--data-only") == nil {
		t.Error("a restore that runs triggers loads the keys of a sealed generation")
	}
	_, err := rig.Service{}.Consumer(t, lossy).Own(t.Context(), rig.Topic, 1, 0)
	rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.KeysLost)
	rig.Do(t, func() error { return restore(lossy, "--data-only", "--disable-triggers", "--table=idem_keys_1") })
	copiesOfAll(t, lossy)
}

// address returns the URL of a database with its password.
func address(db *pgxpool.Pool) string { return db.Config().ConnString() }

// A table of keys that does not fit its generation, as after a restore of some tables, halts
// partitions, and the halt says how to make it fit.
func TestTableOfKeysThatDoesNotFitHalts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ breaks, mends, text string }{
		"missing": {`DROP TABLE idem_keys_2`, `CREATE TABLE idem_keys_2 PARTITION OF idem_keys (PRIMARY KEY (key)) FOR VALUES IN (2); ALTER TABLE idem_keys_2 REPLICA IDENTITY FULL`, ""},
		"keyless": {`ALTER TABLE idem_keys_2 DROP CONSTRAINT idem_keys_2_pkey`, `ALTER TABLE idem_keys_2 ADD PRIMARY KEY (key)`, ""},
		"sealed": {`CREATE TRIGGER idem_keys_sealed BEFORE INSERT ON idem_keys_2 FOR EACH ROW EXECUTE FUNCTION idem_keys_sealed()`, `DROP TRIGGER idem_keys_sealed ON idem_keys_2`,
			"its table idem_keys_2 is sealed: restore idem_key_gen and all tables of keys from one backup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := sealedKeys(t)
			c := rig.Service{}.Consumer(t, db)
			w := rig.Own(t, c)
			idemtest.Exec(t, db, test.breaks)
			text := cmp.Or(test.text, test.mends)
			if name != "keyless" { // the claim is not rejected, so only a take-over notices it
				_, err := w.Apply(t.Context(), rig.Records(4, "e: put 5 5"))
				rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.KeysLost)
				rig.WantText(t, err, text)
			}
			_, err := c.Own(t.Context(), rig.Topic, 0, 0)
			rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.KeysLost)
			rig.WantText(t, err, text)
			idemtest.Exec(t, db, test.mends)
			rig.Apply(t, rig.Own(t, c), rig.Records(4, "e: put 5 5"))
		})
	}
}

// Rows of a sealed generation are loaded only with its trigger disabled.
func TestSealedKeysAreLoadedWithoutTriggers(t *testing.T) {
	t.Parallel()
	db := sealedKeys(t)
	conn, err := db.Acquire(t.Context())
	rig.Do(t, func() error { return err })
	defer conn.Release()
	var rows bytes.Buffer
	_, err = conn.Conn().PgConn().CopyTo(t.Context(), &rows, `COPY idem_keys_1 TO STDOUT`)
	rig.Do(t, func() error { return err })
	load := func() error {
		_, err := conn.Conn().PgConn().CopyFrom(t.Context(), bytes.NewReader(rows.Bytes()), `COPY idem_keys_1 FROM STDIN`)
		return err
	}
	idemtest.Exec(t, db, `TRUNCATE idem_keys_1`)
	rig.WantText(t, load(), "the generation of keys in idem_keys_1 is sealed (SQLSTATE 23514)")
	idemtest.Exec(t, db, `ALTER TABLE idem_keys_1 DISABLE TRIGGER ALL`)
	rig.Do(t, load)
	idemtest.Exec(t, db, `ALTER TABLE idem_keys_1 ENABLE TRIGGER ALL`)
	copiesOfAll(t, db)
}

// A sealed generation that has lost keys halts partitions: with the take-over if it has none, and
// when its filter is built if it has some. Rows that are restored end that, and so does the
// operator's UPDATE, after which copies of what is missing take effect again.
func TestLostKeysHalt(t *testing.T) {
	t.Parallel()
	db := sealedKeys(t)
	idemtest.Exec(t, db, `CREATE TABLE backup AS TABLE idem_keys_1; DELETE FROM idem_keys WHERE gen = 1`)
	c := rig.Service{}.Consumer(t, db)
	_, err := c.Own(t.Context(), rig.Topic, 0, 0)
	halted := rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "code", halted.Code, halt.KeysLost)
	rig.WantText(t, err, "generation 1 of keys has 0 of its 3 keys")
	rig.WantText(t, err, "UPDATE idem_key_gen SET keys = NULL WHERE gen = 1")
	c.Close()

	const restore = `ALTER TABLE idem_keys_1 DISABLE TRIGGER idem_keys_sealed; INSERT INTO idem_keys_1 TABLE backup ON CONFLICT DO NOTHING;
ALTER TABLE idem_keys_1 ENABLE TRIGGER idem_keys_sealed`
	const loseOne = `DELETE FROM idem_keys WHERE gen = 1 AND key = (SELECT key FROM idem_keys_1 ORDER BY key LIMIT 1)`
	idemtest.Exec(t, db, restore+"; "+loseOne)
	log, option := rig.Logged()
	c = rig.Service{Options: []idem.Option{option}}.Consumer(t, db)
	w := rig.Own(t, c)
	next, rows := int64(4), "1=1 2=2 3=3 4=4"
	_, err = w.Apply(t.Context(), rig.Records(next, "e: put 5 5")) // reads the list; the filter is built beside it
	rig.Await(t, log, "no key is claimed until an operator has acted", 1)
	if err == nil {
		next, rows = 5, rows+" 5=5"
		_, err = w.Apply(t.Context(), rig.Records(next, "f: put 6 6"))
	}
	halted = rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "code", halted.Code, halt.KeysLost)
	rig.Want(t, "offset", halted.Offset, next)
	rig.WantText(t, err, "generation 1 of keys has 2 of its 3 keys")
	rig.Want(t, "rows", rig.Table(t, db), rows)
	_, err = c.Own(t.Context(), rig.Topic, 2, 0)
	rig.Want(t, "code of the next take-over", rig.WantError[*idem.HaltedError](t, err).Code, halt.KeysLost)
	idemtest.Exec(t, db, restore)
	got := rig.Apply(t, rig.OwnPartition(t, c, 3), rig.Records(0, "a: put 1 1", "b: put 2 2", "c: put 3 3"))
	rig.Want(t, "copies, after the rows are back", got, idem.Result{Duplicates: 3})

	idemtest.Exec(t, db, loseOne+`; UPDATE idem_key_gen SET keys = NULL WHERE gen = 1`)
	log, option = rig.Logged()
	c = rig.Service{Options: []idem.Option{option}}.Consumer(t, db)
	w = rig.OwnPartition(t, c, 4)
	rig.Do(t, func() error { return c.Upkeep(t.Context()) })
	rig.Apply(t, w, rig.Records(0, "g: put 7 7"))
	rig.Await(t, log, "filter of sealed keys built", 1)
	got = rig.Apply(t, w, rig.Records(1, "a: put 1 1", "b: put 2 2", "c: put 3 3"))
	rig.Want(t, "copies, after the operator's UPDATE", got, idem.Result{Applied: 1, Duplicates: 2})
	rig.Want(t, "keys", rig.Query(t, db, `SELECT keys::text FROM idem_key_gen WHERE gen = 1`), "2")
}
