package generator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator"
)

// What idemgen does for ten times as many topics is ten times as much, from the spec to the files.
// Memory stands for work, because it is the same on every machine.
func TestWorkGrowsWithTheNumberOfTopics(t *testing.T) {
	work := func(topics int) float64 {
		var b strings.Builder
		b.WriteString("version: 1\nconsumer: c\npackage: c\ntables:\n")
		for i := range topics {
			fmt.Fprintf(&b, "  a%d: {primary_key: [id], columns: {id: text, n: bigint, x: text}}\n", i)
		}
		b.WriteString("topics:\n")
		for i := range topics {
			fmt.Fprintf(&b, "  t%d:\n    idempotency_key: {source: {header: key}, window: 8d}\n    event_type: {header: type}\n    events:\n", i)
			for j := range 10 {
				fmt.Fprintf(&b, "      T%dE%d: {type: e%d, fields: {id: string, n: int64, x: string}, write: [{upsert: a%d, if_newer: n}]}\n", i, j, j, i)
			}
		}
		specs := []generator.Spec{{Path: t.TempDir() + "/idemgen.yaml", Content: []byte(b.String())}}
		return testing.AllocsPerRun(1, func() {
			result, err := generator.Generate(specs)
			if err != nil {
				t.Fatal(err)
			}
			if err := result.Close(); err != nil || len(result.Changes) < topics {
				t.Fatal(len(result.Changes), err)
			}
		})
	}
	if few, many := work(5), work(50); many > 12*few {
		t.Errorf("50 topics take %.0f allocations, 5 take %.0f", many, few)
	}
}
