package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

const external = `version: 1
consumer: books
package: books
tables:
  accounts:
    external: true
    schema: core
    name: Acc "ounts"
    primary_key: [account_id]
    unique: [[iban], [owner, balance]]
    columns:
      account_id: {type: uuid, name: Account ID}
      iban: varchar(34)
      owner: text
      balance: {type: "numeric(12,2)", name: the balance}
      opened_at: {type: timestamptz, filled_by: database}
      remark: nullable text
  lost:
    external: true
    primary_key: [id]
    columns: {id: bigint}
topics:
  accounts.v1:
    idempotency_key: {source: {header: event-id}, window: 8d}
    events:
      Opened:
        fields: {account_id: uuid, iban: string, owner: string, remark: optional string}
        write: [{insert: accounts, set: {balance: {value: 0}}}]
`

const asInSpec = `
CREATE SCHEMA core;
CREATE TABLE lost (id bigint PRIMARY KEY);
CREATE TABLE core."Acc ""ounts""" ("Account ID" uuid PRIMARY KEY, iban varchar(34) NOT NULL UNIQUE, owner text NOT NULL,
	"the balance" numeric(12,2) NOT NULL, opened_at timestamptz NOT NULL DEFAULT now(), remark text, UNIQUE (owner, "the balance"));
`

// Everything in which a database is not as the spec says is told in one run, with its line.
func TestCheckComparesTablesWithADatabase(t *testing.T) {
	db := idemtest.DB(t)
	url := db.Config().ConnString()
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module example.com/books\n")
	write(t, "idemgen.yaml", external)
	must(t, "generate")
	idemtest.Migrate(t, db, "migrations")
	idemtest.Exec(t, db, asInSpec)
	if code, stdout, stderr := run(t, "check", "--db", url); code != done || stdout != "" || stderr != "" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	idemtest.Exec(t, db, `ALTER TABLE core."Acc ""ounts""" DROP CONSTRAINT "Acc ""ounts""_iban_key", ALTER iban TYPE varchar(22), ALTER owner DROP NOT NULL,
		ALTER opened_at DROP DEFAULT, ADD branch int NOT NULL, DROP "the balance"; DROP TABLE lost; CREATE TABLE core.lost ();`)
	want := `idemgen.yaml:13:13: E620: column "iban" of core."Acc ""ounts""" is varchar(22) in the database, and varchar(34) in the spec
   13 |       iban: varchar(34)
      |             ^^^^^^^^^^^
      = hint: the column must take each value of varchar(34)
`
	code, stdout, stderr := run(t, "check", "--db="+url)
	if code != different || stdout != "" || !strings.Contains(stderr, want) || !strings.HasSuffix(stderr, "idemgen: the database is not as the specs say\n") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	t.Setenv("DATABASE_URL", url)
	code, stdout, _ = run(t, "check", ".", "--json", "--db")
	var answer struct {
		Diagnostics []struct {
			Line, Column  int
			Code, Message string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || code != different {
		t.Fatalf("exit code %d, %v\n%s", code, err, stdout)
	}
	var told []string
	for _, d := range answer.Diagnostics {
		told = append(told, fmt.Sprintf("%d:%d %s %s", d.Line, d.Column, d.Code, d.Message))
	}
	const it = `core."Acc ""ounts"""`
	expected := []string{
		`5:3 E620 column "branch" of ` + it + ` is not in the spec, and a row cannot be without it: NOT NULL, no default`,
		`10:14 E620 ` + it + ` has no unique key [iban], which the spec calls unique`,
		`13:13 E620 column "iban" of ` + it + ` is varchar(22) in the database, and varchar(34) in the spec`,
		`14:14 E620 column "owner" of ` + it + ` may be NULL in the database, and not in the spec`,
		`15:46 E620 ` + it + ` has no column "the balance"`,
		`16:25 E620 column "opened_at" of ` + it + ` has no default, and the spec says that the database fills it`,
		`18:3 E620 there is no table lost in the database`,
	}
	if !slices.Equal(told, expected) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(expected, "\n"))
	}
}

// An address that nobody answers at, or none at all, is trouble, and no word of it is told.
func TestCheckNeedsADatabaseThatAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module example.com/books\n")
	write(t, "idemgen.yaml", external)
	must(t, "generate")
	t.Setenv("DATABASE_URL", "")
	if code, _, stderr := run(t, "check", "--db"); code != trouble || !strings.Contains(stderr, "--db or $DATABASE_URL missing") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if code, _, stderr := run(t, "check", "--db", "postgres://u:secret@127.0.0.1:1/db"); code != trouble || !strings.Contains(stderr, "connect to the database that --db names") || strings.Contains(stderr, "secret") || strings.Count(stderr, "connection refused") != 1 {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	t.Setenv("DATABASE_URL", "postgres://u:secret@127.0.0.1:1/db")
	if code, _, stderr := run(t, "check", "--db"); code != trouble || !strings.Contains(stderr, "connect to the database that $DATABASE_URL names") || strings.Contains(stderr, "secret") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// told are the E620 of check --db with their lines.
func told(t *testing.T, url string) []string {
	t.Helper()
	code, stdout, _ := run(t, "check", "--json", "--db", url)
	var answer struct {
		Diagnostics []struct {
			Line, Column        int
			Code, Message, Hint string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, stdout)
	}
	var all []string
	for _, d := range answer.Diagnostics {
		all = append(all, fmt.Sprintf("%d:%d %s %s (%s)", d.Line, d.Column, d.Code, d.Message, d.Hint))
	}
	if want := map[bool]int{true: different, false: done}[len(all) > 0]; code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	return all
}

const migrated = `version: 1
consumer: books
package: books
tables:
  makers:
    primary_key: [maker]
    columns: {maker: uuid}
  books:
    primary_key: [isbn]
    indexes: [[title, isbn]]
    foreign_keys: [{columns: [maker], references: makers, on_delete: cascade}]
    columns:
      isbn: text
      maker: uuid
      title: text
      note: nullable text
      series: nullable text
  loans:
    external: true
    primary_key: [loan]
    columns: {loan: uuid}
topics:
  books.v1:
    idempotency_key: {source: {header: event-id}, window: 8d}
    event_type: {header: type}
    events:
      Printed:
        type: printed
        fields: {isbn: string, maker: uuid, title: string, note: optional string}
        write:
          - insert: makers
          - insert: books
            leave: [series]
      Lent:
        type: lent
        fields: {loan: uuid}
        write: [{insert: loans}]
`

// A database in which a migration is missing, or was not applied as a whole, is not as the spec
// says: neither without the runtime's tables nor without a foreign key or an index.
func TestCheckNamesWhatMissingMigrationsMake(t *testing.T) {
	db := idemtest.DB(t)
	url := db.Config().ConnString()
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module example.com/books\n")
	write(t, "idemgen.yaml", migrated)
	must(t, "generate")
	idemtest.Exec(t, db, read(t, "migrations/0002_books.sql"))
	idemtest.Exec(t, db, `CREATE TABLE loans (loan uuid PRIMARY KEY)`)
	holds(t, told(t, url), `2:11 E620 the database has version 0 of the runtime's tables, this service needs 1 (apply, in their order, all migrations up to the one whose name ends with _idem_1.sql; the first of them ends with _idem_1.sql)`)
	idemtest.Exec(t, db, read(t, "migrations/0001_idem_1.sql"))
	holds(t, told(t, url))
	idemtest.Exec(t, db, `ALTER TABLE books DROP CONSTRAINT books_maker_fkey; DROP INDEX books_title_isbn_idx; ALTER TABLE idem_dead_letter SET UNLOGGED; DROP TABLE loans`)
	holds(t, told(t, url),
		`2:11 E620 the runtime's table public.idem_dead_letter is unlogged (ALTER TABLE public.idem_dead_letter SET LOGGED; the protocol needs it after a crash)`,
		`10:15 E620 books has no index [title, isbn] (apply the migration that makes it, or take it out of the spec)`,
		`11:20 E620 books has no foreign key [maker] to makers with on_delete: cascade (apply the migration that makes it, or take it out of the spec)`,
		`18:3 E620 there is no table loans in the database (apply the migrations, or say with schema: and name: where it is)`)
}

// What no step could write to is told before the first record is: a column that must have a value,
// an unlogged table, a type without a text, a schema that the role may not use.
func TestCheckNamesWhatWouldRefuseRecords(t *testing.T) {
	db := idemtest.DB(t)
	url := db.Config().ConnString()
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module example.com/books\n")
	write(t, "idemgen.yaml", migrated)
	must(t, "generate")
	idemtest.Migrate(t, db, "migrations")
	idemtest.Exec(t, db, `CREATE TABLE loans (loan uuid PRIMARY KEY); ALTER TABLE books ALTER note SET NOT NULL, ALTER series SET NOT NULL; ALTER TABLE books SET UNLOGGED`)
	holds(t, told(t, url),
		`8:3 E620 table public.books is unlogged: after a crash its rows are gone, and their records count as applied (ALTER TABLE public.books SET LOGGED)`,
		`16:13 E620 column "note" of books is NOT NULL in the database, and event Printed may write NULL to it (let the event have a value in every record (a default of its field will do), or ALTER TABLE books ALTER COLUMN "note" DROP NOT NULL)`,
		`17:15 E620 column "series" of books is NOT NULL in the database and has no default, and event Printed makes rows without it (let the step give it a value, or ALTER TABLE books ALTER COLUMN "series" DROP NOT NULL)`)
}

func holds(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
