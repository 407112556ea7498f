package gocode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/gocode"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
)

// BenchmarkRender renders fifty topics of ten events each.
func BenchmarkRender(b *testing.B) {
	var tables, topics strings.Builder
	for i := range 50 {
		fmt.Fprintf(&tables, "  t%d:\n    primary_key: [id]\n    columns: {id: text, seq: bigint, a: text, b: text, c: numeric, d: timestamptz}\n", i)
		fmt.Fprintf(&topics, "  topic%d:\n    idempotency_key: {source: {header: key}, window: 8d}\n    event_type: {header: type}\n    events:\n", i)
		for j := range 10 {
			fmt.Fprintf(&topics, "      E%dx%d:\n        type: e%d\n        fields: {id: string, seq: int64, a: string, b: string, c: decimal, d: timestamp}\n", i, j, j)
			fmt.Fprintf(&topics, "        write:\n          - upsert: t%d\n            if_newer: seq\n", i)
		}
	}
	s := load(b, "version: 1\nconsumer: c\npackage: p\ntables:\n"+tables.String()+"topics:\n"+topics.String())
	for b.Loop() {
		if _, err := gocode.Render(s, gocode.SQL{Step: sqlcode.Step, Table: sqlcode.TableName}, gocode.Tests{}); err != nil {
			b.Fatal(err)
		}
	}
}
