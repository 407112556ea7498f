package spec

import (
	"strings"
	"testing"
)

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
    assume: [ordered]
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
