package catalog_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A service does not start where its spec expects more of a table than there is. The database
// may have more: wider types, further columns that fill themselves.
func TestTablesAreComparedWithTheSpec(t *testing.T) {
	db := idemtest.DB(t)
	service := &wire.Service{Source: "idemgen.yaml", Tables: []wire.Table{{
		Name: "accounts", SQL: `core."Acc ""ounts"""`, Unique: [][]string{{"id"}, {"tenant", "no"}},
		Columns: []wire.Column{
			{Name: "id", Type: "uuid"}, {Name: "tenant", Type: "varchar(10)"}, {Name: "no", Type: "integer"}, {Name: "sum", Type: "numeric(12,2)"},
			{Name: "state", Type: "named(core.state)", Texts: []string{"a", "it's"}}, {Name: "at", Type: "timestamptz", Filled: true},
			{Name: "note", Type: "text", Nullable: true, Left: "Opened"}, {Name: "kind", Type: "text", Default: true},
			{Name: "remark", Type: "text", Nullable: true, Null: "Noted"}, {Name: "free", Type: "text", Nullable: true},
			{Name: "tags", Type: "text array", Nullable: true},
		},
		Rights: []string{"SELECT", "INSERT"},
	}}}
	const table = `CREATE SCHEMA core; CREATE TYPE core.state AS ENUM ('a', 'it''s', 'b');
CREATE TABLE core."Acc ""ounts""" (id uuid PRIMARY KEY, tenant varchar(10) NOT NULL, no integer NOT NULL, sum numeric(12,2) NOT NULL,
	state core.state NOT NULL, at timestamptz NOT NULL DEFAULT now(), note text, kind text NOT NULL DEFAULT '', remark text, free text, tags text[]);
CREATE UNIQUE INDEX k ON core."Acc ""ounts""" (no, tenant);`
	const alter = `ALTER TABLE core."Acc ""ounts""" `
	const it = `core."Acc ""ounts"""`
	for name, c := range map[string]struct{ sql, want string }{
		"as in the spec":      {`SELECT`, ""},
		"all names quoted":    {`SET LOCAL quote_all_identifiers = on`, ""},
		"wider types":         {alter + `ALTER tenant TYPE text, ALTER no TYPE bigint, ALTER sum TYPE numeric(20,4)`, ""},
		"a domain":            {`CREATE DOMAIN d AS numeric(12,2) CHECK (VALUE > 0); ` + alter + `ALTER sum TYPE d`, ""},
		"NOT NULL by the way": {alter + `ALTER note SET NOT NULL, ALTER note SET DEFAULT '', ALTER free SET NOT NULL`, ""},
		"NOT NULL, and left out": {alter + `ALTER note SET NOT NULL`,
			`column "note" of ` + it + ` is NOT NULL in the database and has no default, but event Opened inserts rows without it (let the step give it a value, or ALTER TABLE ` + it + ` ALTER COLUMN "note" DROP NOT NULL)`},
		"NOT NULL, and perhaps NULL": {alter + `ALTER remark SET NOT NULL, ALTER remark SET DEFAULT ''`, `column "remark" of ` + it + ` is NOT NULL in the database, but event Noted may write NULL to it`},
		"a trigger may fill what is left out": {alter + `ALTER note SET NOT NULL, ALTER remark SET NOT NULL; CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER x BEFORE INSERT ON ` + it + ` FOR EACH ROW EXECUTE FUNCTION f()`, ""},
		"an enum without a text": {`CREATE TYPE core.less AS ENUM ('a', 'x'); ` + alter + `DROP state; DROP TYPE core.state; ALTER TYPE core.less RENAME TO state; ` + alter + `ADD state core.state NOT NULL DEFAULT 'a'`,
			`column "state" of ` + it + ` cannot hold "it's", which steps write: the enum has a, x (ALTER TYPE "core"."state" ADD VALUE 'it''s', or let no step write it)`},
		"unlogged":         {alter + `SET UNLOGGED`, `table ` + it + ` is unlogged: after a crash its rows are gone, and their records count as applied (ALTER TABLE ` + it + ` SET LOGGED)`},
		"no USAGE":         {`CREATE ROLE idemgen_test_tables; GRANT INSERT, SELECT ON ` + it + ` TO idemgen_test_tables; SET ROLE idemgen_test_tables`, `role idemgen_test_tables has no right to use schema core, in which table ` + it + ` is (GRANT USAGE ON SCHEMA "core" TO "idemgen_test_tables")`},
		"a table of Citus": {ofCitus(it), `table ` + it + ` is a table of Citus (pg_dist_partition lists it): its rows may be on other servers, which do not commit atomically with the position, so events may be lost, or miss rows of earlier events (SELECT undistribute_table('core."Acc ""ounts"""'), or use a database without Citus)`},
		"a rule in place of inserts": {`CREATE RULE "r 1" AS ON INSERT TO ` + it + ` WHERE NEW.no = 2 DO INSTEAD NOTHING`,
			it + ` has the rule "r 1", which replaces INSERT statements (DROP RULE "r 1" ON ` + it + `, and replace it by a trigger)`},
		"a rule of statements that the service does not make": {`CREATE RULE r AS ON DELETE TO ` + it + ` DO INSTEAD NOTHING`, ""},
		"a rule that is disabled":                             {`CREATE RULE r AS ON INSERT TO ` + it + ` DO INSTEAD NOTHING; ` + alter + `DISABLE RULE r`, ""},
		"a rule beside inserts":                               {`CREATE RULE r AS ON INSERT TO ` + it + ` DO ALSO NOTIFY n`, ""},
		"further columns":                                     {alter + `ADD a text, ADD b text NOT NULL DEFAULT '', ADD c int GENERATED ALWAYS AS IDENTITY, ADD d int GENERATED ALWAYS AS (1) STORED`, ""},
		"a number by default, and by a step":                  {alter + `ALTER no ADD GENERATED BY DEFAULT AS IDENTITY`, ""},
		"a number by a serial, and by a step":                 {`CREATE SEQUENCE core.s; ` + alter + `ALTER no SET DEFAULT nextval('core.s')`, ""},
		"a number by the database alone":                      {alter + `ALTER no ADD GENERATED ALWAYS AS IDENTITY`, `column "no" of ` + it + ` is filled by the database (identity), but the spec lets steps write it`},
		"a number that the spec leaves to it":                 {alter + `DROP at, ADD at timestamptz NOT NULL GENERATED ALWAYS AS ('2026-01-01 00:00:00Z') STORED`, ""},
		"a default that is a number":                          {alter + `DROP kind, ADD kind text NOT NULL DEFAULT 'x'`, ""},
		"no table":                                            {`DROP TABLE ` + it, `there is no table ` + it + ` in the database`},
		"another schema":                                      {`CREATE SCHEMA other; ` + alter + `SET SCHEMA other`, `there is one in schema other: say so with schema:`},
		"no column":                                           {alter + `DROP note`, it + ` has no column "note"`},
		"a narrower type":                                     {alter + `ALTER tenant TYPE varchar(9)`, `column "tenant" of ` + it + ` is varchar(9) in the database, but varchar(10) in the spec`},
		"fewer digits":                                        {alter + `ALTER sum TYPE numeric(12,3)`, `column "sum" of ` + it + ` is numeric(12,3) in the database, but numeric(12,2) in the spec`},
		"another type":                                        {alter + `DROP at, ADD at timestamp NOT NULL DEFAULT now()`, `column "at" of ` + it + ` is timestamp in the database, but timestamptz in the spec`},
		"no time of that":                                     {alter + `DROP at, ADD at timestamptz(3) NOT NULL DEFAULT now()`, `is timestamp(3) with time zone in the database`},
		"another enum":                                        {`CREATE TYPE core.other AS ENUM ('a'); ` + alter + `DROP state, ADD state core.other NOT NULL`, `is named(core.other) in the database, but named(core.state)`},
		"nullable":                                            {alter + `ALTER sum DROP NOT NULL`, `column "sum" of ` + it + ` may be NULL in the database, but not in the spec`},
		"NOT NULL by a domain":                                {`CREATE DOMAIN d AS numeric(12,2) NOT NULL; ` + alter + `ALTER sum DROP NOT NULL, ALTER sum TYPE d`, ""},
		"generated":                                           {alter + `DROP sum, ADD sum numeric(12,2) NOT NULL GENERATED ALWAYS AS (1) STORED`, `column "sum" of ` + it + ` is filled by the database (generated), but the spec lets steps write it`},
		"generated, and perhaps NULL":                         {alter + `DROP sum, ADD sum numeric(12,2) GENERATED ALWAYS AS (1) STORED`, `(write filled_by: database and nullable numeric(12,2))`},
		"no partition":                                        {`DROP TABLE ` + it + `; CREATE TABLE ` + it + ` (id uuid PRIMARY KEY) PARTITION BY LIST (id)`, it + ` is partitioned but has no partition, so it accepts no row (create its partitions, or a DEFAULT partition)`},
		"nothing fills it":                                    {alter + `ALTER at DROP DEFAULT`, `column "at" of ` + it + ` has no default, but the spec says that the database fills it`},
		"a trigger may fill it": {alter + `ALTER at DROP DEFAULT; CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER x BEFORE INSERT ON ` + it + ` FOR EACH ROW EXECUTE FUNCTION f()`, ""},
		"no default":         {alter + `ALTER kind DROP DEFAULT`, `column "kind" of ` + it + ` has no default in the database`},
		"an unknown column":  {alter + `ADD more text NOT NULL`, `column "more" of ` + it + ` is not in the spec, but each row needs it`},
		"no primary key":     {alter + `DROP CONSTRAINT "Acc ""ounts""_pkey"`, it + ` has no unique key [id], which the spec calls its primary key`},
		"no unique key":      {`DROP INDEX core.k`, it + ` has no unique key [tenant, no], which the spec calls unique`},
		"a partial key":      {`DROP INDEX core.k; CREATE UNIQUE INDEX k ON ` + it + ` (tenant, no) WHERE no > 0`, `has no unique key [tenant, no]`},
		"a deferrable key":   {`DROP INDEX core.k; ` + alter + `ADD UNIQUE (tenant, no) DEFERRABLE`, `the unique key [tenant, no] of ` + it + ` is deferrable`},
		"no right to insert": {`CREATE ROLE idemgen_test_tables; GRANT USAGE ON SCHEMA core TO idemgen_test_tables; GRANT SELECT ON ` + it + ` TO idemgen_test_tables; SET ROLE idemgen_test_tables`, `role idemgen_test_tables may not INSERT ` + it + ` (GRANT INSERT ON ` + it + ` TO "idemgen_test_tables")`},
		"all differences":    {`DROP INDEX core.k; ` + alter + `DROP note, DROP sum`, `has no column "sum" (apply the migration that creates it, or remove it from the spec; the table has id, tenant, no, state, at, kind, remark, free, tags); ` + it + ` has no column "note"`},
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.WithoutCancel(t.Context()))
			if _, err := tx.Exec(t.Context(), table+c.sql); err != nil {
				t.Fatal(err)
			}
			err = catalog.CheckTables(t.Context(), tx.Conn(), service)
			refused, ok := errors.AsType[*catalog.RefusedError](err)
			switch {
			case c.want == "" && err == nil:
			case !ok || c.want == "" || !strings.Contains(refused.Error(), c.want) || !strings.Contains(refused.Error(), "idemgen.yaml"):
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// writing is the plan of a topic with one statement.
type writing string

func (w writing) Add(*wire.Batch, *wire.Message) error { return nil }

func (w writing) Flush(b *wire.Batch) { b.Write(string(w), &wire.Rows{}) }

// Through a view with a trigger instead of inserts, ON CONFLICT finds no row: a service does not
// start that upserts there, and one that only inserts does.
func TestViewsWithTriggersTakeNoUpserts(t *testing.T) {
	db := idemtest.DB(t)
	idemtest.Exec(t, db, `CREATE TABLE base (id text PRIMARY KEY, n bigint); CREATE VIEW accounts AS SELECT * FROM base;
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO base VALUES (NEW.*); RETURN NEW; END'`)
	const refused = `view "accounts" has the INSTEAD OF trigger "x y", so ON CONFLICT, by which steps find rows, finds none through it (name the underlying table, `
	for _, tc := range []struct{ trigger, statement, want string }{
		{"INSERT", "INSERT INTO accounts (id, n) SELECT $1, $2 ON CONFLICT (id) DO UPDATE SET n = EXCLUDED.n", refused},
		{"INSERT OR UPDATE", "INSERT INTO accounts (id, n) SELECT $1, $2 ON CONFLICT (id) DO NOTHING", refused},
		{"INSERT", "INSERT INTO accounts (id, n) SELECT $1, $2", ""},
		{"UPDATE", "INSERT INTO accounts (id, n) SELECT $1, $2 ON CONFLICT (id) DO NOTHING", ""},
	} {
		idemtest.Exec(t, db, `DROP TRIGGER IF EXISTS "x y" ON accounts; CREATE TRIGGER "x y" INSTEAD OF `+tc.trigger+` ON accounts FOR EACH ROW EXECUTE FUNCTION f()`)
		service := &wire.Service{
			Source: "idemgen.yaml", Topics: []wire.Topic{{NewPlan: func() wire.Plan { return writing(tc.statement) }}},
			Tables: []wire.Table{{Name: "accounts", Rights: []string{"INSERT"}, Columns: []wire.Column{{Name: "id", Type: "text"}, {Name: "n", Type: "bigint"}}}},
		}
		conn, err := db.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = catalog.CheckTables(t.Context(), conn.Conn(), service)
		conn.Release()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s, %s: %v", tc.trigger, tc.statement, err)
		}
	}
}

// A role that may not look into the schema of the runtime's tables is told that right, and not
// that no migration was applied.
func TestRightsToTheRuntimesTablesAreNamed(t *testing.T) {
	db := idemtest.DB(t)
	const none = "the database lacks tables of the runtime that this service needs, or has older ones: apply"
	idemtest.Exec(t, db, `REVOKE ALL ON SCHEMA public FROM PUBLIC`)
	if err := catalogOf(t, db, ``); err == nil || !strings.Contains(err.Error(), none) {
		t.Errorf("got %v", err)
	}
	idemtest.Migrate(t, db, "../../../templates/sql")
	for sql, want := range map[string]string{
		``: "",
		`CREATE ROLE idemgen_test_runtime; SET LOCAL ROLE idemgen_test_runtime`:                                                       `GRANT USAGE ON SCHEMA "public" TO "idemgen_test_runtime"`,
		`CREATE ROLE idemgen_test_runtime; GRANT USAGE ON SCHEMA public TO idemgen_test_runtime; SET LOCAL ROLE idemgen_test_runtime`: `GRANT SELECT ON idem_schema TO "idemgen_test_runtime"`,
	} {
		err := catalogOf(t, db, sql)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("after %q: got %v, want %s", sql, err, want)
		}
	}
}

// catalogOf is what the runtime's tables lack after some SQL, which is taken back.
func catalogOf(t *testing.T, db *pgxpool.Pool, sql string) error {
	t.Helper()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	return catalog.CheckRuntime(t.Context(), tx.Conn(), map[string]int{"core": 1, "keys": 1, "effects": 1})
}
