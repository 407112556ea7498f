// Package proof says what the tests of a service play. It reads the spec, draws records for each
// topic, reads the cases of the team, and asks the oracle what the tables must hold afterwards.
//
//	spec -> seedlog (records of a topic) -> oracle -> Script
//	     -> cases   (cases of the team)  -> oracle -> Script
//
// Package idemtest plays the scripts when the tests run. The generator comes here to check
// cases and examples; it writes no test data.
//
// It must not import any package of this module but cases, model, oracle, resolve, seedlog and
// syntax.
package proof

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/cases"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// Service is a service whose tests are played.
type Service struct {
	*model.Service
	in    *oracle.Interpreter
	given []model.Row // of cases
}

// Of returns the service of a model.
func Of(s *model.Service) *Service { return &Service{s, oracle.New(s), nil} }

// Given adds rows that a case has before its events. The scripts of topics have rows like them for
// the events that name a row of the table.
func (s *Service) Given(rows []model.Row) { s.given = append(s.given, rows...) }

// Script is what a test plays: rows that are there before, records, and what must be there
// afterwards.
type Script struct {
	cases.Case
	// Dead are the dead letters by the index of their records: the class, and the place if it is
	// known, as in "decode items[1].price". It is nil for a case, which knows only their classes.
	Dead map[int]string
}

// Start is the timestamp of the first record of a script. Each further one is a second later,
// unless it has its own.
var Start = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// Topic returns the script of a topic. Its records go to partition 0, from offset 0 on.
func (s *Service) Topic(t *model.Topic) Script {
	rows, log := seedlog.Log(s.Service, t, s.given)
	return s.play(t, rows, log)
}

// Shuffled returns a script of some of the records of a topic, in another order, which the seed
// decides.
func (s *Service) Shuffled(t *model.Topic, seed uint64) Script {
	rows, log := seedlog.Log(s.Service, t, s.given)
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(log), func(i, j int) { log[i], log[j] = log[j], log[i] })
	return s.play(t, rows, log[:random.IntN(len(log)+1)])
}

// play applies the records of a topic. A row that is there already is not inserted again, and a
// record that would halt the partition is left out: package seedlog knows less of values than the
// oracle.
func (s *Service) play(t *model.Topic, rows []model.Row, log []seedlog.Record) Script {
	in := s.in.Fresh()
	p := Script{Dead: map[int]string{}}
	for _, r := range rows {
		if in.Insert(r) == nil {
			p.Given = append(p.Given, r)
		}
	}
	next := map[string]int64{} // offset, by topic
	for _, r := range log {
		i := len(p.Records)
		record := oracle.Record{Topic: r.In(t), Offset: next[r.In(t)], Time: Start.Add(time.Duration(i) * time.Second), Result: r.Result}
		record.Key, record.Value = seedlog.Packed(t, r.Key, r.Value)
		if !r.Time.IsZero() {
			record.Time = r.Time
		}
		for _, h := range r.Headers {
			record.Headers = append(record.Headers, oracle.Header{Name: h.Name, Value: seedlog.PackedHeader(t, h.Name, h.Value)})
		}
		out := in.Apply(record)
		if out.Kind == oracle.Stop {
			in.Release(record.Topic, 0)
			continue
		}
		next[record.Topic]++
		p.Records = append(p.Records, r)
		if dead := out.DeadLetter(); dead != "" {
			p.Dead[i] = dead
		}
	}
	for _, table := range s.Tables {
		rows := in.Values(table.Name)
		p.Then = append(p.Then, cases.Table{Name: table.Name, Columns: in.Columns(table.Name), Rows: rows, Count: len(rows)})
	}
	return p
}

// Case reads a case. Without an error among the problems the script is whole.
func (s *Service) Case(file string, content []byte) (Script, syntax.Diagnostics) {
	parsed, problems := syntax.LoadCase(file, content)
	if parsed.Broken {
		return Script{}, problems
	}
	resolved, more := cases.Resolve(s.Service, s.in.Fresh(), parsed)
	problems.Append(more)
	return Script{Case: *resolved}, problems
}

// Draft returns the text of a case to begin with, which shows an event.
func (s *Service) Draft(e *model.Event) []byte { return cases.Draft(s.Service, e) }

// CheckExamples returns why records of an examples file do not decode.
func (s *Service) CheckExamples(data []byte) []oracle.ExampleError {
	return oracle.CheckExamples(s.Service, data)
}

// Compared returns the columns of a table that a test can compare: those that the database does
// not fill.
func (s *Service) Compared(t *model.Table) []string { return s.in.Columns(t.Name) }

// Tested returns the topics with whose names the test of an entry runs: two of several, unless the
// rows say which topic it was.
func Tested(t *model.Topic) []string {
	told := slices.ContainsFunc(t.Events, func(e *model.Event) bool {
		return slices.ContainsFunc(e.Fields, func(f *model.Field) bool {
			return f.Source.Kind == model.FromRecord && f.Source.Record == "topic"
		})
	})
	if told {
		return t.Kafka[:1]
	}
	return t.Kafka[:min(2, len(t.Kafka))]
}

// Event finds an event by its Go name; nil if the service has none.
func (s *Service) Event(name string) *model.Event {
	for _, t := range s.Topics {
		for _, e := range t.Events {
			if e.GoName == name {
				return e
			}
		}
	}
	return nil
}

// Handled returns an error unless an event of this Go name has a handler.
func (s *Service) Handled(name string) error {
	var names []string
	for _, t := range s.Topics {
		for _, e := range t.Events {
			switch {
			case e.Handle && e.GoName == name:
				return nil
			case e.Handle:
				names = append(names, e.GoName)
			}
		}
	}
	return syntax.Unknown(s.Source, "handled event", name, names)
}

// Entry finds an entry of the spec by its name.
func (s *Service) Entry(name string) (*model.Topic, error) {
	var names []string
	for _, t := range s.Topics {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, syntax.Unknown(s.Source, "topic", name, names)
}

// Reads returns the entry that reads a Kafka topic; nil if none does.
func (s *Service) Reads(topic string) *model.Topic {
	for _, t := range s.Topics {
		if t.Reads(topic) {
			return t
		}
	}
	return nil
}
