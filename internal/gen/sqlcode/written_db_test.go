package sqlcode_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A row that a trigger or a view drops silently is refused, whatever the step, and so is an event
// that would otherwise count as applied.
func TestRowsThatTheDatabaseDropsAreRefused(t *testing.T) {
	const trigger = `CREATE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.id = 2 THEN RETURN NULL; END IF; RETURN NEW; END $$;
		CREATE TRIGGER drops BEFORE INSERT OR UPDATE ON t1 FOR EACH ROW EXECUTE FUNCTION drops()`
	const view = `ALTER TABLE t1 RENAME TO t1_table; CREATE VIEW t1 AS SELECT * FROM t1_table;
		CREATE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.id = 2 THEN RETURN NULL; END IF; INSERT INTO t1_table SELECT NEW.*; RETURN NEW; END $$;
		CREATE TRIGGER drops INSTEAD OF INSERT ON t1 FOR EACH ROW EXECUTE FUNCTION drops()`
	for _, c := range []stepCase{
		{name: "insert", write: "insert: t1"},
		{name: "insert into a view", write: "insert: t1", before: view},
		{name: "upsert", write: "upsert: t1"},
		{name: "upsert of a row that is there", write: "upsert: t1", before: "INSERT INTO t1 VALUES (2, 0);" + trigger},
		{name: "add", write: "add: t1, plus: {n: n}, if_missing: insert"},
		{name: "add to a row that is there", write: "add: t1, plus: {n: n}, if_missing: insert", before: "INSERT INTO t1 VALUES (2, 0);" + trigger},
		{name: "update", write: "update: t1, set: {n: n}", before: "INSERT INTO t1 VALUES (1, 0), (2, 0), (3, 0);" + trigger},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.table, c.fields = "primary_key: [id], columns: {id: integer, n: bigint}", "n: int64"
			s := load(t, c.spec())
			sql := statement(t, s.Topics[0].Events[0].Steps[0])
			db := database(t, s)
			if c.before == "" {
				c.before = trigger
			}
			idemtest.Exec(t, db, c.before)
			if _, err := db.Exec(t.Context(), sql, ints{1, 3}, []int64{1, 3}); err != nil {
				t.Fatalf("rows that are kept: %v\n%s", err, sql)
			}
			_, err := db.Exec(t.Context(), sql, ints{4, 2}, []int64{1, 1})
			if c.name == "update" {
				_, err = db.Exec(t.Context(), sql, ints{1, 2}, []int64{1, 1})
			}
			if err == nil || !strings.Contains(err.Error(), "idem_step_refused") {
				t.Errorf("got %v\n%s", err, sql)
			}
		})
	}
}

// A row that a delete should remove, and that a trigger or a view keeps, is refused, too. One that
// is not there is fine, also if another transaction deletes it meanwhile, and so is one that the
// trigger changed so that where no longer means it.
func TestRowsThatTheDatabaseKeepsAreRefused(t *testing.T) {
	trigger := func(kept string) string {
		return `CREATE FUNCTION keeps() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ` + kept + ` RETURN OLD; END $$;
			CREATE TRIGGER keeps BEFORE DELETE ON t1 FOR EACH ROW EXECUTE FUNCTION keeps()`
	}
	kept := trigger(`IF OLD.id = 2 THEN RETURN NULL; END IF;`)
	const view = `ALTER TABLE t1 RENAME TO t1_table; CREATE VIEW t1 AS SELECT * FROM t1_table;
		CREATE FUNCTION keeps() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF OLD.id = 2 THEN RETURN NULL; END IF; DELETE FROM t1_table WHERE id = OLD.id; RETURN OLD; END $$;
		CREATE TRIGGER keeps INSTEAD OF DELETE ON t1 FOR EACH ROW EXECUTE FUNCTION keeps()`
	for _, c := range []stepCase{
		{name: "by its key", write: "delete: t1", before: kept},
		{name: "from a view", write: "delete: t1", before: view},
		{name: "many", write: "delete: t1, where: {n: id}, many: true", before: trigger(`IF OLD.n = 2 AND OLD.id = 2 THEN RETURN NULL; END IF;`) + `; INSERT INTO t1 VALUES (20, 2, 'x'), (10, 1, 'x')`},
		{name: "where it holds more", write: "delete: t1, where: {id: id, s: {value: x}}", before: kept},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.table = "primary_key: [id], columns: {id: integer, n: nullable integer, s: nullable text}"
			s := load(t, c.spec())
			sql := statement(t, s.Topics[0].Events[0].Steps[0])
			db := database(t, s)
			idemtest.Exec(t, db, `INSERT INTO t1 SELECT n, n, 'x' FROM generate_series(1, 5) AS n; `+c.before)
			if _, err := db.Exec(t.Context(), sql, ints{1, 3, 7}); err != nil {
				t.Fatalf("rows that are deleted, and one that is not there: %v\n%s", err, sql)
			}
			_, err := db.Exec(t.Context(), sql, ints{4, 2})
			if err == nil || !strings.Contains(err.Error(), "idem_step_refused") {
				t.Errorf("got %v\n%s", err, sql)
			}
		})
	}
	t.Run("no row", func(t *testing.T) {
		c := stepCase{write: "delete: t1, where: {id: id, n: {value: 1}}", table: "primary_key: [id], columns: {id: integer, n: integer}"}
		s := load(t, c.spec())
		sql := statement(t, s.Topics[0].Events[0].Steps[0])
		db := database(t, s)
		idemtest.Exec(t, db, `INSERT INTO t1 VALUES (1, 1), (2, 1); `+trigger(`IF OLD.id = 2 THEN UPDATE t1 SET n = 0 WHERE id = 2; RETURN NULL; END IF;`))
		if _, err := db.Exec(t.Context(), sql, ints{2}); err != nil {
			t.Errorf("a row that where no longer means: %v", err)
		}
		other, err := db.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer other.Rollback(t.Context())
		if _, err := other.Exec(t.Context(), `DELETE FROM t1 WHERE id = 1`); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := db.Exec(t.Context(), sql, ints{1})
			done <- err
		}()
		const waiting = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid')`
		for waits, end := false, time.Now().Add(time.Minute); !waits && time.Now().Before(end); time.Sleep(time.Millisecond) {
			if err := db.QueryRow(t.Context(), waiting).Scan(&waits); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("a row that another transaction deleted: %v", err)
		}
	})
}

// Names with characters that nobody sees are escaped, and name the same tables and columns.
func TestNamesThatNobodySees(t *testing.T) {
	c := stepCase{write: "insert: t1", table: `name: "ta\u202eb\\le\U000e0001", primary_key: [id], columns: {id: integer, n: {type: integer, name: "c\u200d\"ol"}}`, fields: "n: int32"}
	s := load(t, c.spec())
	sql := statement(t, s.Topics[0].Events[0].Steps[0])
	db := database(t, s)
	if strings.ContainsFunc(sql, func(c rune) bool { return c > '~' }) {
		t.Errorf("%+q", sql)
	}
	if _, err := db.Exec(t.Context(), sql, ints{1}, ints{2}); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	var n int
	if err := db.QueryRow(t.Context(), "SELECT \"c\u200d\"\"ol\" FROM \"ta\u202eb\\le\U000e0001\"").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
}
