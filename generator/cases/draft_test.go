package cases

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/resolve"
	"github.com/idemgen/idemgen/generator/seedlog"
	"github.com/idemgen/idemgen/schema"
)

// eachSpec goes over the specs that the repository holds.
func eachSpec(t *testing.T, do func(t *testing.T, s *model.Service)) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/golden/accepted/*/idemgen.yaml")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d specs (%v)", len(files), err)
	}
	examples, err := filepath.Glob("../../examples/*/idemgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sharing, err := filepath.Glob("../../examples/*/*/idemgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Concat(files, examples, sharing) {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			spec, problems := schema.Load("idemgen.yaml", content)
			s, more := resolve.Resolve(spec)
			if problems.Append(more); s == nil || problems.Errors() > 0 {
				t.Fatal(problems.Sorted())
			}
			do(t, s)
		})
	}
}

// Whatever an event looks like, its draft is a case in order, that has the event in it, and whose
// end is what the interpreter computes from what the case says.
func TestDraftsAreCasesThatHold(t *testing.T) {
	eachSpec(t, func(t *testing.T, s *model.Service) {
		for _, topic := range s.Topics {
			for _, e := range topic.Events {
				text := Draft(s, e)
				parsed, problems := schema.LoadCase(e.Name+".yaml", text)
				in := oracle.New(s)
				c, more := Resolve(s, in, parsed)
				if problems.Append(more); problems.Errors() > 0 || parsed.Broken {
					t.Errorf("%s: %v\n%s", e.Name, problems.Sorted(), text)
					continue
				}
				if !c.Holds(e) {
					t.Errorf("%s is not in its own case\n%s", e.Name, text)
				}
				holds(t, topic, in, c, string(text))
				if e.Handle && parsed.Draft == nil {
					t.Errorf("%s has a handler, and its case is no draft\n%s", e.Name, text)
				}
				if called := slices.ContainsFunc(c.Calls, func(of Calls) bool { return of.Event == e.GoName && of.Count == 1 }); called != (e.Effect != nil) {
					t.Errorf("calls of %s are counted: %v\n%s", e.Name, called, text)
				}
				if !e.Handle && len(c.DeadLetters) > 0 {
					t.Errorf("%s takes no effect in its case\n%s", e.Name, text)
				}
			}
		}
	})
}

// holds applies a case and compares the tables with what it says.
func holds(t *testing.T, topic *model.Topic, in *oracle.Interpreter, c *Case, text string) {
	t.Helper()
	for i, r := range c.Records {
		record := asRead(topic, &r)
		record.Offset, record.Time = int64(i), logStart.Add(time.Duration(i)*time.Second)
		in.Apply(record)
	}
	for _, table := range c.Then {
		rows := in.Rows(table.Name)
		if len(rows) != table.Count {
			t.Errorf("%s: %d rows, want %d\n%s", table.Name, len(rows), table.Count, text)
			continue
		}
		for i, want := range table.Rows {
			for j, column := range table.Columns {
				if cell := column + "=" + want[j]; !strings.Contains(rows[i]+"  ", cell+"  ") && !timely(rows[i]) {
					t.Errorf("%s: %s, want %s\n%s", table.Name, rows[i], cell, text)
				}
			}
		}
	}
}

// timely reports whether a row has the time of a record, which the case leaves to its test.
func timely(row string) bool { return strings.Contains(row, "2001-01-01") }

// nameOf is a topic of an entry.
func nameOf(t *model.Topic) string {
	return t.Kafka[0]
}

// A case of one event says nothing of another.
func TestACaseHoldsTheEventsThatItHas(t *testing.T) {
	eachSpec(t, func(t *testing.T, s *model.Service) {
		for _, topic := range s.Topics {
			for _, e := range topic.Events {
				c := &Case{Records: []seedlog.Record{{Event: e.GoName, Topic: nameOf(topic)}}}
				for _, other := range topic.Events {
					if c.Holds(other) != (other == e) {
						t.Errorf("a case of %s holds %s: %v", e.Name, other.Name, other != e)
					}
				}
			}
		}
	})
}

// A draft has the rows that an add finds, whoever makes them: of two accounts both, with enough to
// take from.
func TestADraftGivesTheRowsThatAnAddFinds(t *testing.T) {
	const spec = `version: 1
consumer: cash
package: cash
tables:
  accounts: {primary_key: [id], columns: {id: uuid, balance: bigint}}
topics:
  cash.v1:
    record_key: {id: uuid}
    assume: {ordered_by: record_key}
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 8d}
    events:
      Opened: {type: opened, handle: true}
      Made: {type: made, write: [{insert: accounts, set: {balance: {value: 0}}}]}
      Moved:
        type: moved
        fields: {to: uuid, amount: int64}
        write:
          - {add: accounts, minus: {balance: amount}}
          - {add: accounts, where: {id: to}, plus: {balance: amount}}
`
	parsed, problems := schema.Load("s.yaml", []byte(spec))
	s, more := resolve.Resolve(parsed)
	if problems.Append(more); s == nil || problems.Errors() > 0 {
		t.Fatal(problems.Sorted())
	}
	text := string(Draft(s, s.Topics[0].Events[2]))
	for _, want := range []string{
		"given:\n  accounts:\n    - {id: 00000000-0000-4000-8000-000000000001, balance: 100}\n    - {id: 00000000-0000-4000-8000-000000000002, balance: 100}\nevents:\n",
		"      to: 00000000-0000-4000-8000-000000000002\n      amount: 2\n",
		"then:\n  accounts:\n    - {id: 00000000-0000-4000-8000-000000000001, balance: 98}\n    - {id: 00000000-0000-4000-8000-000000000002, balance: 102}\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want\n%sin\n%s", want, text)
		}
	}
}
