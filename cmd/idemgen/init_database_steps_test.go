package main

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

const withEnum = `
CREATE TYPE tier AS ENUM ('silver', 'gold');
CREATE TABLE orders (order_id uuid PRIMARY KEY, customer_id text NOT NULL, total numeric(12,2) NOT NULL, status text NOT NULL, tier tier NOT NULL DEFAULT 'silver');
CREATE TABLE tiers (tier tier PRIMARY KEY, note text)`

// A spec that init writes of a database passes its tests as it is, also where no step writes an
// enum. The printed steps lead on to events of one's own, with Go code and without.
func TestWhatInitSaysOfADatabaseWorks(t *testing.T) {
	repo := repository(t)
	db := idemtest.DB(t)
	idemtest.Exec(t, db, withEnum)
	module(t, nil)
	lines := steps(t, "--from-db", db.Config().ConnString())
	const rm, init = "rm -r migrations idem.state.yaml testdata/cases cmd/orders/main.go", "go tool idemgen init"
	if !strings.HasSuffix(strings.Join(lines, "\n"), rm+"\n"+init) {
		t.Fatalf("init says\n%s", strings.Join(lines, "\n"))
	}
	build(t, repo, "vet", "./...")
	build(t, repo, "test", "./...")
	described, _, _ := strings.Cut(read(t, "idemgen.yaml"), "\ntopics:\n")
	_, topics, _ := strings.Cut(spec, "\ntopics:\n")
	replaced(t, rm, described+"\ntopics:\n"+topics+second)
	build(t, repo, "vet", "./...")
	build(t, repo, "test", "./...")
	replaced(t, rm+" handler.go idem_setup_test.go", described+"\ntopics:\n"+topics)
	build(t, repo, "vet", "./...")
}

// A type of others has the texts of the cases in tests, also where no step writes it.
func TestATypeOfOthersHasTheTextsOfTheCases(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": `version: 1
consumer: names
package: names
tables:
  customers:
    external: true
    primary_key: [id]
    columns: {id: uuid, tier: named(sales.tier), name: text}
topics:
  t:
    record_key: {id: uuid}
    assume: {ordered_by: record_key}
    idempotency_key: {source: {record: offset}}
    events:
      Renamed:
        fields: {name: string}
        write: [{update: customers, set: {name: name}}]
`})
	made := func(want string) {
		t.Helper()
		must(t, "generate")
		if sql := read(t, "testdata/idem_external.sql"); !strings.Contains(sql, "CREATE TYPE sales.tier AS ENUM ("+want+");") {
			t.Errorf("no enum of %s:\n%s", want, sql)
		}
	}
	made("''")
	write(t, "testdata/cases/renamed.yaml", `given:
  customers: [{id: 0b5a4e2e-0000-4000-8000-000000000001, tier: gold, name: a}]
events:
  - topic: t
    key: 0b5a4e2e-0000-4000-8000-000000000001
    value: {name: b}
then:
  customers: [{id: 0b5a4e2e-0000-4000-8000-000000000001, tier: gold, name: b}]
`)
	made("'gold'")
}
