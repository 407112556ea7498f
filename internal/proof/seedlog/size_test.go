package seedlog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// touches is how often the events of a topic touch a table: by a step, by a cascade, or by
// naming a parent.
func countTouches(topic *model.Topic) (n int) {
	for _, e := range topic.Events {
		for _, s := range e.Steps {
			n += 1 + len(s.Cascades) + len(s.Table.ForeignKeys)
		}
	}
	return n
}

func TestTheLogIsShort(t *testing.T) {
	eachTopic(t, func(t *testing.T, s *model.Service, topic *model.Topic, log []seedlog.Record) {
		k := len(topic.Events)
		if most := 4*k*k + 9*k; len(log) > most {
			t.Errorf("%d records for %d events, more than %d", len(log), k, most)
		}
	})
}

// large are topics of n events that share rows in different ways.
var large = map[string]func(n int) string{
	"updates of one table": func(n int) string {
		events := "      E: {type: e, fields: {a: string}, write: [{insert: t0}]}\n"
		for i := range n - 1 {
			events += fmt.Sprintf("      E%d: {type: e%d, fields: {a: string}, write: [{update: t0, set: {a: a}}]}\n", i, i)
		}
		return "  t0: {primary_key: [id], columns: {id: uuid, a: text}}\n" + ordered + events
	},
	"every verb on three tables": func(n int) string {
		var tables, events strings.Builder
		for i := range 3 {
			fmt.Fprintf(&tables, "  t%d: {primary_key: [id], columns: {id: uuid, p: nullable uuid, a: text}, foreign_keys: [{columns: [p], references: t%d}]}\n", i, max(0, i-1))
		}
		for i := range n {
			write := []string{"insert: t%d", "upsert: t%d", "update: t%d, set: {a: a}", "delete: t%d"}[i/3%4]
			fields := []string{"fields: {p: optional uuid, a: string}, ", "fields: {p: optional uuid, a: string}, ", "fields: {a: string}, ", ""}[i/3%4]
			fmt.Fprintf(&events, "      E%d: {type: e%d, %swrite: [{%s}]}\n", i, i, fields, fmt.Sprintf(write, i%3))
		}
		return tables.String() + ordered + events.String()
	},
	"a chain of parents": func(n int) string {
		tables, events := "  t0: {primary_key: [id], columns: {id: uuid}}\n", "      E0: {type: e0, write: [{insert: t0}]}\n"
		for i := range n - 1 {
			tables += fmt.Sprintf("  t%d: {primary_key: [id], columns: {id: uuid, p: uuid}, foreign_keys: [{columns: [p], references: t%d}]}\n", i+1, i)
			events += fmt.Sprintf("      E%d: {type: e%d, fields: {p: uuid}, write: [{insert: t%d}]}\n", i+1, i+1, i+1)
		}
		return tables + ordered + events
	},
	"tables of their own": func(n int) string {
		var tables, events strings.Builder
		for i := range n {
			fmt.Fprintf(&tables, "  t%d: {primary_key: [id], columns: {id: uuid, n: bigint}}\n", i)
			fmt.Fprintf(&events, "      E%d: {type: e%d, fields: {n: int64}, write: [{upsert: t%d, if_newer: n}]}\n", i, i, i)
		}
		return tables.String() + ordered + events.String()
	},
}

const ordered = `topics:
  t:
    record_key: {id: uuid}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 1d}
    events:
`

// The log grows with the touches of the topic, not with its pairs of events.
func TestTheLogGrowsWithTheTouches(t *testing.T) {
	const records, some = 14, 1000 // per touch, and what every topic may have
	for name, text := range large {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{20, 500} {
				spec, bad := syntax.Load("idemgen.yaml", []byte("version: 1\nconsumer: c\npackage: p\ntables:\n"+text(n)))
				if bad.Errors() > 0 {
					t.Fatal(bad)
				}
				s, bad := resolve.Resolve(spec)
				if s == nil {
					t.Fatal(bad)
				}
				topic := s.Topics[0]
				log, touches := len(logOf(s, topic)), countTouches(topic)
				t.Logf("%d events: %d touches, %d records", n, touches, log)
				if log > records*touches+some {
					t.Errorf("%d events with %d touches: %d records", n, touches, log)
				}
			}
		})
	}
}
