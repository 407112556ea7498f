package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

const nasty = `
CREATE SCHEMA "core ""x""";
CREATE TYPE "core ""x""".state AS ENUM ('open', 'it''s shut');
CREATE TYPE kind AS ENUM ('a', 'b');
CREATE DOMAIN email AS text NOT NULL CHECK (VALUE LIKE '%@%');
CREATE TABLE "core ""x"""."weird """"table" ("ID" uuid PRIMARY KEY DEFAULT gen_random_uuid(), "Account No" bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
	mail email, handle text NOT NULL, kind kind NOT NULL DEFAULT 'a', place tsvector, "order" numeric(12,2) NOT NULL, amount numeric, note text,
	state "core ""x""".state, name varchar, code varchar(3) NOT NULL, tags text[] NOT NULL DEFAULT '{}', at timestamptz NOT NULL DEFAULT now(), "at" timestamp NOT NULL,
	doubled numeric GENERATED ALWAYS AS ("order" * 2) STORED, UNIQUE ("order", code));
CREATE UNIQUE INDEX ON "core ""x"""."weird """"table" (lower(note));
CREATE TABLE child (parent uuid REFERENCES "core ""x"""."weird """"table" ON DELETE CASCADE, "no." integer, "no," integer NOT NULL, PRIMARY KEY (parent, "no."));
CREATE TABLE cities (id serial PRIMARY KEY, name text NOT NULL, area xml NOT NULL);
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON cities FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TABLE log (line text);
CREATE TABLE "true" ("null" int PRIMARY KEY, "yes" text NOT NULL, "~" text NOT NULL);
CREATE TABLE by_unique (code text NOT NULL UNIQUE, valid tstzrange);
CREATE TABLE "Überweisung # 1" ("Größe" int PRIMARY KEY, "a: b" text NOT NULL, "ctid_" text, "ASchr" json);
CREATE TABLE measured (at timestamptz NOT NULL, device bigint NOT NULL, value double precision NOT NULL, PRIMARY KEY (device, at)) PARTITION BY RANGE (at);
CREATE TABLE measured_1 PARTITION OF measured DEFAULT;
`

// What init writes of a database says what is there, and generates.
func TestInitDescribesADatabase(t *testing.T) {
	db := idemtest.DB(t)
	url := db.Config().ConnString()
	idemtest.Exec(t, db, strings.Replace(nasty, `"at" timestamp NOT NULL`, `"At" timestamp NOT NULL`, 1))
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module example.com/books\n")
	code, stdout, stderr := run(t, "init", "--from-db", url)
	if code != done {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	spec := read(t, "idemgen.yaml")
	for _, want := range []string{
		"# public.log: left out. It has no unique key", "# place: left out. The spec language has no type for tsvector", "# left out: CREATE UNIQUE INDEX",
		"mail: text # domain email", "handle: text", "at: {type: \"timestamptz\", filled_by: database} # default now()",
		"doubled: {type: \"nullable numeric\", filled_by: database} # generated", "- {columns: [parent], references: weird_table, on_delete: cascade}",
		"    # trigger touch runs before each new row. If it fills a column, write filled_by: database",
		`# state: left out. Its type is "core \"x\""."state", but named(schema.type) only accepts lowercase letters`,
		"# area: left out. The spec language has no type for xml\n      # Each row needs it, so no step can insert rows here",
		"name: \"weird \\\"\\\"table\"", "kind: {type: \"named(public.kind)\", filled_by: database}",
	} {
		if !strings.Contains(spec, want) {
			t.Errorf("the spec lacks %s", want)
		}
	}
	if strings.Contains(spec, "measured_1") || strings.Contains(spec, "idem_") {
		t.Error("the spec has tables that nobody writes to")
	}
	idemtest.Migrate(t, db, "migrations") // as the fourth of the steps that init prints says
	must(t, "check")
	if !strings.Contains(stderr, "\n4. Apply migrations to your database.") {
		t.Errorf("what init says is left to do:\n%s", stderr)
	}
	if t.Failed() || testing.Verbose() {
		t.Log(spec)
	}
	code, stdout, stderr = run(t, "init", "--from-db", url, "--table", "public.cities")
	if code != trouble || !strings.Contains(stdout, "  cities:\n    external: true\n    schema: public\n    primary_key: [id]\n") || strings.Contains(stdout, "child") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// Every word of the language is what init writes of a column that has the type.
func TestInitKnowsEveryColumnType(t *testing.T) {
	db := idemtest.DB(t)
	var words []string
	for _, word := range model.ColumnWords {
		words = append(words, word)
	}
	words = append(words, model.Parsed...)
	sql := "CREATE EXTENSION citext; CREATE TABLE things (id uuid PRIMARY KEY"
	var want []string
	for i, word := range words {
		for n, suffix := range []string{"", " array"} {
			if _, known := typeword.ColumnType(word + suffix); known {
				sql += fmt.Sprintf(", c_%d_%d %s%s NOT NULL", i, n, word, []string{"", "[]"}[n])
				want = append(want, fmt.Sprintf("\n      c_%d_%d: %s%s\n", i, n, word, suffix))
			}
		}
	}
	idemtest.Exec(t, db, sql+")")
	module(t, nil)
	must(t, "init", "--from-db", db.Config().ConnString())
	spec := read(t, "idemgen.yaml")
	for _, line := range want {
		if !strings.Contains(spec, line) {
			t.Errorf("the spec lacks %q", line)
		}
	}
	must(t, "check")
}

// A name that is not written as SQL writes it is told with the way to write it.
func TestInitNamesTheTableThatWasMeant(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Exec(t, db, `CREATE SCHEMA "Sales Dept"; CREATE TABLE "Sales Dept"."Customer Orders" (id int PRIMARY KEY)`)
	module(t, nil)
	for _, name := range []string{"Sales Dept.Customer Orders", "customer orders", `"Customer Orders"`, "customer_orders", "sales dept.customer_orders"} {
		refused(t, `names are written as in SQL: --table '"Sales Dept"."Customer Orders"'`, "init", "--from-db", db.Config().ConnString(), "--table", name)
	}
	must(t, "init", "--from-db", db.Config().ConnString(), "--table", `"Sales Dept"."Customer Orders"`)
}

// No table is left out in silence but those of the runtime: what the spec cannot have is named,
// with the reason.
func TestInitNamesWhatItLeavesOut(t *testing.T) {
	db := idemtest.DB(t)
	url := db.Config().ConnString()
	idemtest.Exec(t, db, `CREATE SCHEMA sales; CREATE TABLE sales.idem_thing (id int PRIMARY KEY); CREATE TABLE sales.pg_thing (id int PRIMARY KEY);
		CREATE TABLE idem_other (id int PRIMARY KEY); CREATE TABLE orders (id int PRIMARY KEY); CREATE VIEW shown AS SELECT id FROM orders`)
	module(t, nil)
	must(t, "init", "--from-db", url)
	const reserved = ": left out. Its name is reserved: idem_ belongs to idemgen's runtime, pg_ to Postgres,\n  # so no step"
	for _, name := range []string{"sales.idem_thing", "sales.pg_thing", "public.idem_other"} {
		if !strings.Contains(read(t, "idemgen.yaml"), "  # "+name+reserved) {
			t.Errorf("nothing is said of %s:\n%s", name, read(t, "idemgen.yaml"))
		}
	}
	odd := idemtest.DB(t)
	idemtest.Exec(t, odd, "CREATE TABLE \"a\x7fb\" (id int PRIMARY KEY); CREATE TABLE \" \" (id int PRIMARY KEY); CREATE TABLE \"${x}\" (id int PRIMARY KEY); CREATE SCHEMA \"{{s}}\"; CREATE TABLE \"{{s}}\".t (id int PRIMARY KEY);"+
		"CREATE TABLE t (id int PRIMARY KEY, \"a\tb\" int, \"${HOME}\" int, \"\u2028\" int, \"\u202e\" int); CREATE TABLE \"T_\" (id int PRIMARY KEY, a int, \"A\" int, a_ int, \"a b\" int, a_b int, a__b int); CREATE TABLE t1 (id int PRIMARY KEY); CREATE TABLE t_1 (id int PRIMARY KEY)")
	module(t, nil)
	must(t, "init", "--from-db", odd.Config().ConnString())
	for _, want := range []string{
		`public.a\x7fb: left out. Its name has a control character,`, `public. : left out. Its name is blank,`, `public.${x}: left out. Its name looks like an environment variable,`,
		`{{s}}.t: left out. The name of its schema looks like a template,`, `a\tb: left out. Its name has a control character,`, `${HOME}: left out. Its name looks like an environment variable`, `\u2028: left out. Its name is blank,`,
		`name: "\u202e"`, "t_1_2:",
	} {
		if !strings.Contains(read(t, "idemgen.yaml"), want) {
			t.Errorf("nothing is said of %s:\n%s", want, read(t, "idemgen.yaml"))
		}
	}
	module(t, nil)
	must(t, "init", "--from-db", url)
	idemtest.Migrate(t, db, "migrations")
	if _, stdout, _ := run(t, "init", "--from-db", url); strings.Count(stdout, "  # public.idem_") != 1 || strings.Contains(stdout, "idem_keys") {
		t.Errorf("tables of the runtime are told:\n%s", stdout)
	}
	module(t, nil)
	refused(t, "a spec cannot describe these tables:\n  # public.shown: left out. It is a view, for which the database knows no key,\n", "init", "--from-db", url, "--table", "shown")
}
