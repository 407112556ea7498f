package generated_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/testdata/golden/behaviour/apart"
)

// Batch boundaries carry no meaning, whatever others add to the tables: records leave in one
// batch what they leave one by one, in the tables, among the dead letters and in what
// triggers wrote.
func TestBoundariesCarryNoMeaning(t *testing.T) {
	const audit = `
CREATE TABLE audit (k text, v text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit VALUES (NEW.k, NEW.v); RETURN NULL; END $$;`
	db := newDatabase(t)
	for name, c := range map[string]struct{ sql, topic, log string }{
		"check":            {`ALTER TABLE plain ADD CHECK (v <> 'bad')`, "plain.v1", "a=good a=bad a=fine b=1"},
		"check of NULL":    {`ALTER TABLE plain ADD CHECK (v IS NOT NULL)`, "plain.v1", "a=good a a=fine b=1"},
		"domain":           {`CREATE DOMAIN word AS text CHECK (value <> 'bad'); ALTER TABLE plain ALTER v TYPE word`, "plain.v1", "a=good a=bad a=fine b=1"},
		"generated column": {`ALTER TABLE plain ADD n int GENERATED ALWAYS AS (10 / length(v)) STORED`, "plain.v1", "a=good a= a=fine b=1"},
		"index expression": {`CREATE INDEX ON plain ((10 / length(v)))`, "plain.v1", "a=good a= a=fine b=1"},
		"after trigger":    {audit + `CREATE TRIGGER note AFTER INSERT OR UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION note()`, "plain.v1", "a=1 a=2 a=3 b=1"},
		"trigger of a partition": {audit + `DROP TABLE plain; CREATE TABLE plain (k text PRIMARY KEY, v text) PARTITION BY HASH (k);
CREATE TABLE plain_0 PARTITION OF plain FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TRIGGER note AFTER INSERT OR UPDATE ON plain_0 FOR EACH ROW EXECUTE FUNCTION note()`, "plain.v1", "a=1 a=2 a=3 b=1"},
		"check of a partition": {`DROP TABLE plain; CREATE TABLE plain (k text PRIMARY KEY, v text) PARTITION BY HASH (k);
CREATE TABLE plain_0 PARTITION OF plain FOR VALUES WITH (MODULUS 1, REMAINDER 0); ALTER TABLE plain_0 ADD CHECK (v <> 'bad')`, "plain.v1", "a=good a=bad a=fine b=1"},
		"trigger that reads another table": {`CREATE FUNCTION need() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF NOT EXISTS (SELECT FROM children WHERE k = NEW.k) THEN RAISE 'no child'; END IF; RETURN NEW; END $$;
CREATE TRIGGER need BEFORE INSERT ON parents FOR EACH ROW EXECUTE FUNCTION need()`, "family.v1", "parent:a=1 child:a=a parent:b=1 child:b=b"},
		"nondeterministic key": {`CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER TABLE parents ALTER k TYPE text COLLATE loose`, "family.v1", "parent:b=1 gone:A parent:a=1 gone:B parent:B=2"},
		"unique key by hand":      {`CREATE UNIQUE INDEX ON plain (v); INSERT INTO plain VALUES ('a', '1')`, "plain.v1", "b=1 a=2"},
		"partial unique key":      {`CREATE UNIQUE INDEX ON plain (v) WHERE v <> 'x'; INSERT INTO plain VALUES ('a', '1')`, "plain.v1", "b=1 a=2"},
		"exclusion":               {`ALTER TABLE plain ADD EXCLUDE (v WITH =); INSERT INTO plain VALUES ('a', '1')`, "plain.v1", "b=1 a=2"},
		"foreign key by hand":     {`ALTER TABLE parents ADD FOREIGN KEY (v) REFERENCES children (k)`, "family.v1", "parent:a=x child:x=1 parent:b=x"},
		"foreign key and cascade": {`ALTER TABLE children ADD FOREIGN KEY (v) REFERENCES parents (k) ON DELETE CASCADE; INSERT INTO parents VALUES ('p', '')`, "family.v1", "gone:p child:c=p"},
	} {
		t.Run(name, func(t *testing.T) {
			one, all := applied(t, db, c.sql, c.topic, c.log, true), applied(t, db, c.sql, c.topic, c.log, false)
			if one != all {
				t.Errorf("one by one:\n%s\nin one batch:\n%s", one, all)
			}
		})
	}
}

// applied is what a log leaves in a database that was changed by sql.
func applied(t *testing.T, db *pgxpool.Pool, sql, topic, log string, single bool) string {
	t.Helper()
	emptied(t, db)
	createTables(t, db, load(t, "../../testdata/golden/behaviour/apart/idemgen.yaml"))
	idemtest.Exec(t, db, sql)
	c, err := apart.NewConsumer(db)
	if err != nil {
		t.Fatal(err)
	}
	w, err := idemtest.Own(t, c, topic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	records := events(topic, log)
	if !single {
		if _, err := w.Apply(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		return left(t, db)
	}
	for i := range records {
		if _, err := w.Apply(t.Context(), records[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return left(t, db)
}

// events makes records of "key=v", "key" or "type:key=v".
func events(topic, log string) []idem.Message {
	var out []idem.Message
	for i, word := range strings.Fields(log) {
		m := idem.Message{Topic: topic, Offset: int64(i), LeaderEpoch: -1, Value: []byte("{}")}
		if typ, rest, ok := strings.Cut(word, ":"); ok {
			m.Headers, word = []idem.Header{{Name: "t", Value: []byte(typ)}}, rest
		}
		key, v, ok := strings.Cut(word, "=")
		m.Key = []byte(key)
		if ok {
			m.Value = fmt.Appendf(nil, `{"v":%q}`, v)
		}
		out = append(out, m)
	}
	return out
}

// left are the rows of all tables, what triggers wrote, and the dead letters.
func left(t *testing.T, db *pgxpool.Pool) string {
	t.Helper()
	var all string
	for _, name := range []string{"plain", "children", "parents", "audit"} {
		var text string
		err := db.QueryRow(t.Context(), `SELECT coalesce((xpath('string(/)', query_to_xml(
			CASE WHEN to_regclass($1) IS NULL THEN 'SELECT' ELSE format('SELECT string_agg(k || ''='' || coalesce(v, ''NULL''), '' '' ORDER BY k, v) FROM %s', $1) END, false, true, '')))[1]::text, '')`, name).Scan(&text)
		if err != nil {
			t.Fatal(err)
		}
		all += name + ": " + strings.TrimSpace(text) + "\n"
	}
	var letters string
	if err := db.QueryRow(t.Context(), `SELECT coalesce(string_agg(offs || ' ' || reason, ', ' ORDER BY offs), '') FROM idem_dead_letter`).Scan(&letters); err != nil {
		t.Fatal(err)
	}
	return all + letters
}
