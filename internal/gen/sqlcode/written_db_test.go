package sqlcode_test

import (
	"strings"
	"testing"

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
