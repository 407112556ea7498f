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
	if code, _, stderr := run(t, "check", "--db", "postgres://u:secret@127.0.0.1:1/db"); code != trouble || !strings.Contains(stderr, "connect to the database") || strings.Contains(stderr, "secret") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
