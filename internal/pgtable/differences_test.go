package pgtable_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

const kindsSQL = `
CREATE TYPE kind AS ENUM ('a', 'b');
CREATE TABLE kinds (
    id int PRIMARY KEY, narrow smallint NOT NULL, numbered int GENERATED ALWAYS AS IDENTITY, computed int GENERATED ALWAYS AS (id * 2) STORED,
    maybe int, never int NOT NULL, without int NOT NULL, with_default int NOT NULL DEFAULT 1, filled int NOT NULL, defaulted int NOT NULL, k kind NOT NULL, t text NOT NULL,
    UNIQUE (never) DEFERRABLE, UNIQUE (k, without));
CREATE TABLE triggered (LIKE kinds INCLUDING ALL);
CREATE TABLE updated (LIKE kinds INCLUDING ALL);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER fills BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION fill();
CREATE TRIGGER fills BEFORE UPDATE ON updated FOR EACH ROW EXECUTE FUNCTION fill();
CREATE VIEW seen AS SELECT * FROM kinds;
CREATE VIEW "Written" AS SELECT * FROM kinds;
CREATE TRIGGER "Takes" INSTEAD OF INSERT ON "Written" FOR EACH ROW EXECUTE FUNCTION fill();
CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE whole (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE UNLOGGED TABLE part PARTITION OF whole DEFAULT;
CREATE UNLOGGED TABLE fast (id int PRIMARY KEY);
CREATE TEMPORARY TABLE brief (id int PRIMARY KEY);
CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;
CREATE FOREIGN TABLE away (id int NOT NULL) SERVER s;
CREATE TABLE ruled (id int PRIMARY KEY);
CREATE RULE "No" AS ON DELETE TO ruled DO INSTEAD NOTHING; CREATE RULE too AS ON UPDATE TO ruled DO INSTEAD NOTHING`

// tempSchema is the schema of a session's temporary tables.
var tempSchema = regexp.MustCompile(`pg_temp_[0-9]+`)

// Whatever a table lacks that its spec expects is reported, with what to do about it. What a
// trigger may fill, or no step needs, is not reported.
func TestEachDifferenceIsTold(t *testing.T) {
	t.Parallel()
	conn, err := idemtest.DB(t).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), kindsSQL); err != nil {
		t.Fatal(err)
	}
	const all = "id, narrow, numbered, computed, maybe, never, without, with_default, filled, defaulted, k, t"
	columns := []pgtable.WantColumn{
		{Name: "id", Type: "integer"}, {Name: "gone", Type: "integer"}, {Name: "narrow", Type: "integer"},
		{Name: "numbered", Type: "integer"}, {Name: "computed", Type: "integer"}, {Name: "maybe", Type: "integer"},
		{Name: "never", Type: "integer", Nullable: true, Null: "Paid"}, {Name: "without", Type: "integer", Left: "Paid"}, {Name: "with_default", Type: "integer", Left: "Paid", Default: true},
		{Name: "filled", Type: "integer", Filled: true}, {Name: "defaulted", Type: "integer", Default: true}, {Name: "k", Type: "named(public.kind)", Texts: []string{"a", "it's", "b"}}, {Name: "t", Type: "text", Texts: []string{"a"}},
	}
	meant := []pgtable.WantColumn{
		{Name: "id", Type: "integer"}, {Name: "narrow", Type: "smallint"}, {Name: "numbered", Type: "integer", Filled: true}, {Name: "computed", Type: "integer", Nullable: true},
		{Name: "maybe", Type: "integer", Nullable: true, Left: "Paid", Null: "Paid", Default: true}, {Name: "never", Type: "integer"}, {Name: "without", Type: "integer"},
		{Name: "filled", Type: "integer"}, {Name: "defaulted", Type: "integer"}, {Name: "k", Type: "named(public.kind)"},
	}
	gone := func(of string) string {
		return of + ` has no column "gone": apply the migration that creates it, or remove it from the spec; the table has ` + all
	}
	// texts are the lines of a text, with the table's name for @.
	texts := func(of, lines string) []string {
		return strings.Split(strings.ReplaceAll(strings.TrimSpace(lines), "@", of), "\n")
	}
	const types = `
column "narrow" of @ is smallint in the database, but integer in the spec: the column must take each value of integer
column "numbered" of @ is filled by the database (identity), but the spec lets steps write it: write filled_by: database
column "computed" of @ is filled by the database (generated), but the spec lets steps write it: write filled_by: database and nullable integer
column "maybe" of @ may be NULL in the database, but not in the spec: write nullable integer, or make it NOT NULL
`
	const enum = `
column "k" of @ cannot hold "it's", which steps write: the enum has a, b: ALTER TYPE "public"."kind" ADD VALUE 'it''s', or let no step write it
`
	const nulls = `
column "never" of @ is NOT NULL in the database, but event Paid may write NULL to it: let the event have a value in every record (a default of its field will do), or ALTER TABLE @ ALTER COLUMN "never" DROP NOT NULL
column "without" of @ is NOT NULL in the database and has no default, but event Paid inserts rows without it: let the step give it a value, or ALTER TABLE @ ALTER COLUMN "without" DROP NOT NULL
`
	const defaults = `
column "filled" of @ has no default, but the spec says that the database fills it: let steps fill it, or give it a default
column "defaulted" of @ has no default in the database: give it the default of the spec
`
	join := func(parts ...string) string {
		var lines []string
		for _, p := range parts {
			lines = append(lines, strings.TrimSpace(p))
		}
		return strings.Join(lines, "\n")
	}
	for name, c := range map[string]struct {
		want pgtable.Want
		text []string
	}{
		"all kinds":            {pgtable.Want{SQL: "kinds", Columns: columns, Rights: []string{"INSERT"}}, append([]string{gone("kinds")}, texts("kinds", join(types, nulls, defaults, enum))...)},
		"without inserts":      {pgtable.Want{SQL: "kinds", Columns: columns, Rights: []string{"UPDATE"}}, append([]string{gone("kinds")}, texts("kinds", join(types, nulls, enum))...)},
		"a trigger may fill":   {pgtable.Want{SQL: "triggered", Columns: columns, Rights: []string{"INSERT"}}, append([]string{gone("triggered")}, texts("triggered", join(types, enum))...)},
		"a trigger of updates": {pgtable.Want{SQL: "updated", Columns: columns, Rights: []string{"INSERT"}}, append([]string{gone("updated")}, texts("updated", join(types, nulls, defaults, enum))...)},
		"a column that steps leave": {pgtable.Want{SQL: "kinds", Columns: meant, Rights: []string{"INSERT"}}, texts("kinds", `
column "computed" of @ is filled by the database (generated), but the spec lets steps write it: write filled_by: database
column "t" of @ is not in the spec, but each row needs it: NOT NULL, no default: add it to the spec, or give it a default`)},
		"keys": {pgtable.Want{SQL: "kinds", Unique: [][]string{{"maybe"}, {"never"}, {"without", "k"}, {"id", "maybe"}, {"none"}}}, []string{
			`kinds has no unique key [maybe], which the spec calls its primary key: steps find rows by it: create a unique index, or name another key`,
			`the unique key [never] of kinds is deferrable: no upsert can find rows by it: make it NOT DEFERRABLE`,
			`kinds has no unique key [id, maybe], which the spec calls unique: steps find rows by it: create a unique index, or name another key`}},
		"a deferrable primary key": {pgtable.Want{SQL: "kinds", Unique: [][]string{{"never"}}}, []string{`the primary key [never] of kinds is deferrable: no upsert can find rows by it: make it NOT DEFERRABLE`}},
		"a view":                   {pgtable.Want{SQL: "seen", Columns: meant, Unique: [][]string{{"maybe"}}, Rights: []string{"INSERT"}, Upserts: true}, nil},
		"a view of one's own": {pgtable.Want{SQL: `"Written"`, Rights: []string{"INSERT"}, Upserts: true}, []string{
			`view "Written" has the INSTEAD OF trigger "Takes", so ON CONFLICT, by which steps find rows, finds none through it: name the underlying table, or drop the trigger if Postgres can insert through the view itself`}},
		"a view without upserts": {pgtable.Want{SQL: `"Written"`, Rights: []string{"INSERT"}}, nil},
		"no partition": {pgtable.Want{SQL: "parted", Rights: []string{"INSERT"}}, []string{
			"parted is partitioned but has no partition, so it accepts no row: create its partitions, or a DEFAULT partition",
			`column "id" of parted is not in the spec, but each row needs it: NOT NULL, no default: add it to the spec, or give it a default`}},
		"no partition, and no inserts": {pgtable.Want{SQL: "parted", Rights: []string{"SELECT"}}, nil},
		"an unlogged partition":        {pgtable.Want{SQL: "whole"}, []string{"table public.part is unlogged: after a crash its rows are gone, and their records count as applied: ALTER TABLE public.part SET LOGGED"}},
		"unlogged":                     {pgtable.Want{SQL: "fast"}, []string{"table public.fast is unlogged: after a crash its rows are gone, and their records count as applied: ALTER TABLE public.fast SET LOGGED"}},
		"temporary":                    {pgtable.Want{SQL: "brief"}, []string{"table pg_temp.brief is temporary: its rows are gone with the connection, and their records count as applied: write to a permanent table of this database"}},
		"foreign":                      {pgtable.Want{SQL: "away"}, []string{"table public.away is a foreign table: its rows are not committed together with the position: write to a table of this database"}},
		"rules": {pgtable.Want{SQL: "ruled", Rights: []string{"DELETE", "SELECT"}}, []string{
			`ruled has the rule "No", which replaces DELETE statements: DROP RULE "No" ON ruled, and replace it by a trigger`}},
	} {
		found, err := pgtable.Compare(t.Context(), conn, &c.want)
		var got []string
		for _, text := range said(found) {
			got = append(got, tempSchema.ReplaceAllString(text, "pg_temp"))
		}
		if err != nil || !slices.Equal(got, c.text) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, strings.Join(got, "\n"), strings.Join(c.text, "\n"))
		}
	}
}
