package cases

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/resolve"
	"github.com/idemgen/idemgen/schema"
)

const profiles = `version: 1
consumer: profile
package: profile
types:
  Level: {enum: [low, high]}
tables:
  profiles:
    primary_key: [user_id]
    columns:
      user_id: uuid
      name: text
      phone: nullable text
      note: nullable text
      tags: {type: text array, default: "{}"}
      old_tags: text array
      newsletter: {type: boolean, default: false}
      seen: boolean
      level: text
      visits: integer
topics:
  profiles.v1:
    record_key: {user_id: uuid}
    assume: {ordered_by: record_key}
    idempotency_key: {source: event_id, window: 7d}
    events:
      ProfileChanged:
        fields:
          event_id: uuid
          name: {type: string, patch: true, path: [full_name, name]}
          phone: {type: optional string, patch: true}
          tags: {type: list(string), patch: true}
          newsletter: {type: bool, patch: true}
          level: Level
          visits: int32
        write:
          - update: profiles
            set: {name: name, phone: phone, tags: tags, newsletter: newsletter, level: level, visits: visits, seen: {value: true}, old_tags: {value: "{}"}}
            clear: [note]
`

const orders = `version: 1
consumer: orders
package: orders
tables:
  events:
    primary_key: [order_id, version]
    columns: {order_id: uuid, version: bigint, kind: text}
  orders:
    primary_key: [order_id]
    columns: {order_id: uuid, version: bigint, state: varchar(20)}
topics:
  orders.v1:
    event_type: {path: kind}
    record_key: {order_id: uuid}
    assume: {ordered_by: record_key}
    idempotency_key: {source: {record: offset}}
    fields: {version: int64, kind: string}
    events:
      Placed:
        type: placed
        write:
          - {insert: events}
          - {insert: orders, set: {state: {value: placed}}}
      Moved:
        type: [paid, shipped]
        write:
          - {insert: events}
          - {update: orders, set: {state: kind, version: version}}
`

func resolved(t *testing.T, spec string) *model.Service {
	t.Helper()
	parsed, problems := schema.Load("s.yaml", []byte(spec))
	s, more := resolve.Resolve(parsed)
	if problems.Append(more); s == nil || problems.Errors() > 0 {
		t.Fatal(problems.Sorted())
	}
	return s
}

// passes reports whether a case is right of a service.
func passes(t *testing.T, s *model.Service, text []byte) bool {
	t.Helper()
	parsed, problems := schema.LoadCase("c.yaml", text)
	in := oracle.New(s)
	c, more := Resolve(s, in, parsed)
	if problems.Append(more); problems.Errors() > 0 {
		t.Fatalf("%v\n%s", problems.Sorted(), text)
	}
	for i, r := range c.Records {
		record := asRead(s.Topics[0], &r)
		record.Offset = int64(i)
		in.Apply(record)
	}
	for _, table := range c.Then {
		rows := in.Rows(table.Name)
		if len(rows) != table.Count {
			return false
		}
		for i, want := range table.Rows {
			for j, column := range table.Columns {
				if !strings.Contains(rows[i]+"  ", column+"="+want[j]+"  ") {
					return false
				}
			}
		}
	}
	return true
}

// A draft is not passed by a step that leaves out one of its columns.
func TestADraftTellsWhetherAColumnIsWritten(t *testing.T) {
	for _, spec := range []string{profiles, orders} {
		s := resolved(t, spec)
		e := s.Topics[0].Events[len(s.Topics[0].Events)-1]
		text := Draft(s, e)
		if !passes(t, s, text) {
			t.Fatalf("the case fails as drafted\n%s", text)
		}
		step := e.Steps[len(e.Steps)-1]
		set := step.Set
		for i, a := range set {
			step.Set = append(append([]model.Assign{}, set[:i]...), set[i+1:]...)
			if passes(t, s, text) {
				t.Errorf("%s is not written, and the case passes\n%s", a.Column.Name, text)
			}
		}
		step.Set = set
	}
}

// Of several paths a draft has the first one, which is the one to come.
func TestADraftHasTheFirstOfSeveralPaths(t *testing.T) {
	s := resolved(t, profiles)
	text := string(Draft(s, s.Topics[0].Events[0]))
	if !strings.Contains(text, "      full_name: ") {
		t.Error(text)
	}
}

// An array is a list wherever it stands in a draft.
func TestADraftHasArraysAsLists(t *testing.T) {
	s := resolved(t, profiles)
	text := string(Draft(s, s.Topics[0].Events[0]))
	if strings.Contains(text, `"{`) || !strings.Contains(text, "tags: []") {
		t.Error(text)
	}
}
