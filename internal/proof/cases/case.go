// Package cases turns cases, which the team writes beside a spec, into what generated tests run:
// rows that are there, records, and what must be there then. It says what is wrong with a case,
// and it writes a first draft of one.
//
// It must not import any package of this module but model, oracle, seedlog, syntax, typeword and
// wording.
package cases

import (
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// Case is one case, checked against the spec.
type Case struct {
	Given       []model.Row      // parents before children
	Records     []seedlog.Record // Event is empty if the consumer has none for it
	Then        []Table
	DeadLetters []syntax.ClassCount
	Calls       []Calls                    // those that then counts
	Texts       map[*model.Column][]string // that rows give columns of a type of the team's
}

// Table is what must be in a table.
type Table struct {
	Name    string
	Columns []string   // those that are compared, in the table's order; none if rows are counted
	Rows    [][]string // values in the order of Columns, in the form of package oracle
	Count   int        // how many rows there are, with Columns or without
}

// reader reads one case.
type reader struct {
	service *model.Service
	in      *oracle.Interpreter
	report  *syntax.Diagnostics
	spec    *syntax.Case
	texts   map[*model.Column][]string
	applied map[string]bool     // by event and key: a record before that is no dead letter
	returns map[string]callSaid // by record
}

// Resolve checks a case against its service. Without an error in problems the case is whole.
func Resolve(s *model.Service, in *oracle.Interpreter, c *syntax.Case) (*Case, syntax.Diagnostics) {
	var problems syntax.Diagnostics
	r := reader{
		service: s, in: in, report: &problems, spec: c,
		texts: map[*model.Column][]string{}, applied: map[string]bool{}, returns: map[string]callSaid{},
	}
	out := &Case{DeadLetters: c.DeadLetters, Given: r.given(), Texts: r.texts}
	for i, e := range c.Events {
		if !e.Broken {
			out.Records = append(out.Records, r.record(i+1, e))
		}
	}
	if c.Nothing {
		out.Then = r.asGiven()
	}
	for _, t := range c.Then {
		out.Then = append(out.Then, r.then(t))
	}
	out.Calls = r.calls()
	return out, problems
}

// counts says how what is no table is counted, for a wrong kind of value and for given.
var counts = map[string]string{"dead_letters": "then counts them: dead_letters: {<class>: 1}", "calls": "then counts them: calls: {<event>: 1}"}

// table finds a table of the service, or reports E205.
func (r *reader) table(name syntax.Text) *model.Table {
	var names []string
	for _, t := range r.service.Tables {
		if t.Name == name.Value {
			return t
		}
		names = append(names, t.Name)
	}
	hint, counted := counts[name.Value]
	if !counted {
		hint = wording.Tables(name.Value, names)
	}
	r.report.Add(name.Pos, "E205", "unknown table "+wording.Quote(name.Value), hint)
	return nil
}

// topic finds a topic of the service, or reports E151.
func (r *reader) topic(name syntax.Text) *model.Topic {
	var names []string
	for _, t := range r.service.Topics {
		if t.Reads(name.Value) {
			return t
		}
		names = append(names, t.Kafka...)
	}
	r.report.Add(name.Pos, "E151", "unknown topic "+wording.Quote(name.Value), syntax.Choices(name.Value, "topics", names))
	return nil
}
