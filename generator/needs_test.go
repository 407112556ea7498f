package generator_test

import (
	"testing"

	"github.com/idemgen/idemgen/generator"
)

// A service relies on the number of a topic's partitions if its spec orders records, or parks
// some. Another number is nothing to the other services.
func TestWhoReliesOnTheNumberOfPartitions(t *testing.T) {
	const spec = `version: 1
consumer: c
package: c
tables: {a: {primary_key: [id], columns: {id: text, n: bigint}}}
topics:
  t:
    record_key: {id: string}
    event_type: {header: type}
    events: {E: {type: e, fields: {id: string, n: int64}, write: [{upsert: a, if_newer: n}]}}
`
	const key = "    idempotency_key: {source: {header: key}, window: 8d}\n"
	for topic, want := range map[string]bool{
		key:                             false,
		key + "    assume: [ordered]\n": true,
		key + "    on_failure: {park: record_key}\n": true,
	} {
		result, err := generator.Generate([]generator.Spec{{Path: t.TempDir() + "/idemgen.yaml", Content: []byte(spec + topic)}})
		if err != nil {
			t.Fatal(err)
		}
		if needs := result.Needs(); result.Refused || len(needs) != 1 || needs[0].Topics[0].Fixed != want {
			t.Errorf("%s%s%+v, want %v", topic, result.Summary, needs, want)
		}
		if err := result.Close(); err != nil {
			t.Error(err)
		}
	}
}
