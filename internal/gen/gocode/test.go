package gocode

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// sharedTestFile is idem_gen_test.go: what the tests of all topics use.
func (p *pkg) sharedTestFile(tests Tests) *file {
	f := newFile("idem_gen_test.go", p.service.Package, p.service.Source)
	p.casesTest(f, tests)
	if !p.handles() {
		return f
	}
	f.decl("stubHandler accepts every event and does nothing: the tables hold only what the spec writes.", text("type stubHandler struct{}"))
	for _, t := range p.service.Topics {
		for _, e := range t.Events {
			if e.Handle {
				f.decl("", text("func (stubHandler)").Add(handlerMethod(e, false)).Add(text("{ return nil }")))
			}
			if e.Effect != nil {
				testEffect(f, e)
			}
		}
	}
	if p.service.HasEffects() {
		doc := "testEffects is the service's own handler. Its effects are called only for the records of cases that give no result."
		f.decl(doc, text("type testEffects struct{ Handler }"))
		for _, t := range p.service.Topics {
			for _, e := range t.Events {
				if e.Effect != nil {
					ownEffect(f, e)
				}
			}
		}
	}
	return f
}

// handled reports whether events of a topic have a handler in the transaction.
func handled(t *model.Topic) bool {
	return slices.ContainsFunc(t.Events, func(e *model.Event) bool { return e.Handle })
}

// testHandler is the service's own handler in generated tests.
func testHandler(s *model.Service) string {
	own := "idemtest.Handler(t, newTestHandler(t, db), Handler(stubHandler{}))"
	if s.HasEffects() {
		return "testEffects{" + own + "}"
	}
	return own
}

// tables are what tests compare, without columns that the database fills.
func (p *pkg) tables(tests Tests) code {
	var tables []code
	for _, table := range p.service.Tables {
		var key []code
		for _, c := range table.PrimaryKey {
			key = append(key, lit(c.Name))
		}
		var columns []code
		for _, c := range tests.Columns(table) {
			columns = append(columns, lit(c))
		}
		var stored []code
		for _, c := range table.Columns {
			if c.Stored != "" {
				stored = append(stored, pair(strconv.Quote(c.Name), lit(c.Stored)))
			}
		}
		facts := []code{
			pair("Name", lit(table.Name)),
			pair("Key", text("[]string").Values(key...)),
			pair("Columns", composite(text("[]string"), columns)),
		}
		if name := p.tableName(table); name != "" {
			facts = append(facts, pair("SQL", lit(name)))
		}
		if hidden := model.SensitiveColumns(p.service, table); len(hidden) > 0 {
			facts = append(facts, pair("Sensitive", text("[]string").Values(literals(model.ColumnNames(hidden))...)))
		}
		if len(stored) > 0 {
			facts = append(facts, pair("Stored", composite(text("map[string]string"), stored)))
		}
		tables = append(tables, composite(text(""), facts))
	}
	return composite(slice(qual(idemtestPath, "Table")), tables)
}

// ExternalFile makes the tables of others in the databases of tests.
const ExternalFile = "testdata/idem_external.sql"

// testFile is idem_<topic>_gen_test.go: the scenarios, and what they start from.
func (p *pkg) testFile(t *model.Topic, tests Tests) *file {
	f := newFile("idem_"+t.FileName+"_gen_test.go", p.service.Package, p.service.Source+", topic "+t.Name)
	doc := fmt.Sprintf("Test%s applies the events of topic %q with duplicates, crashes, fenced owners and invalid records.", t.GoName, t.Name)
	if handled(t) {
		doc += "\neditTestLog is yours, in idem_setup_test.go."
	}
	params := []code{named("t", pointer(qual("testing", "T")))}
	f.fn(doc, "", "Test"+t.GoName, params, nil, func(g *group) {
		run := composite(qual(idemtestPath, "Suite"), suite(t, tests.Rows(t))).Add(text(".Run(t)"))
		topics := testedTopics(t)
		if len(topics) == 1 {
			g.Add(run)
			return
		}
		g.For(text("_, topic := range").Add(text("[]string").Values(literals(topics)...))).Block(
			call("t.Run", text("topic"), closure(params, nil, func(g *group) { g.Add(run) })))
	})
	return f
}

// testedTopics are those with which the test of an entry runs: two of several, unless the rows say
// which topic it was.
func testedTopics(t *model.Topic) []string {
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

// casesTest is the test of the cases: the team's own, with the team's own handlers. What it plays
// is a function apart, so that the team can play it over other tables, too.
func (p *pkg) casesTest(f *file, tests Tests) {
	doc := "TestCases applies the records of each case in " + tests.Cases + " with duplicates,\nin batches of every size and over crashes, and compares the tables with the case."
	params := []code{named("t", pointer(qual("testing", "T")))}
	f.fn(doc, "", "TestCases", params, nil, func(g *group) { g.Add(text("testService().RunCases(t)")) })
	doc = "testService returns the service under test."
	elems := []code{pair("Cases", lit(tests.Cases)), pair("Migrations", lit(p.service.Migrations.Dir))}
	if slices.ContainsFunc(p.service.Tables, func(t *model.Table) bool { return t.External }) {
		elems = append(elems, pair("External", lit(ExternalFile)))
	}
	elems = append(elems, pair("Tables", p.tables(tests)))
	elems = append(elems, encodings(p.service.Topics)...)
	handler := ""
	if p.handles() {
		doc += " newTestHandler is yours, in idem_setup_test.go."
		handler = ", " + testHandler(p.service)
		elems = append(elems, pair("Stub", newConsumer(p.service, ", stubHandler{}")))
	}
	elems = append(elems,
		pair("New", newConsumer(p.service, handler)),
		pair("Events", eventTemplates(p.service.Topics)),
	)
	service := qual(idemtestPath, "Service")
	f.fn(doc, "", "testService", nil, service, func(g *group) { g.Return(composite(service, elems)) })
}

// newConsumer is the function that makes the consumer under test.
func newConsumer(s *model.Service, handler string) code {
	return closure(
		[]code{named("t", qual("testing", "TB")), named("db", pointer(qual(pgxpoolPath, "Pool")))},
		[]code{pointer(idem("Consumer")), text("error")},
		func(g *group) {
			args := text("db")
			if readsRegistry(s.Topics) {
				args.Add(text(", ")).Add(ownRegistry(s.Topics))
			}
			args.Add(text("%s", handler))
			if s.HasEffects() {
				args.Add(text(", ")).Add(qual(idemtestPath, "Options").Call(text("t"), text("db"))).Add(text("..."))
			}
			g.Return(call("NewConsumer", args))
		})
}

// eventTemplates are, by name, what all records of an event have in common.
func eventTemplates(topics []*model.Topic) code {
	var events []code
	for _, t := range topics {
		for _, e := range t.Events {
			events = append(events, pair(strconv.Quote(e.GoName), text("").Values(eventTemplate(e)...)))
		}
	}
	return composite(text("map[string]").Add(qual(idemtestPath, "Event")), events)
}

func suite(t *model.Topic, rows string) []code {
	topic := code(lit(testedTopics(t)[0]))
	if len(testedTopics(t)) > 1 {
		topic = text("topic")
	}
	elems := []code{text("Service: testService()"), pair("Topic", topic)}
	if rows != "" {
		elems = append(elems, pair("Rows", lit(rows)))
	}
	elems = append(elems,
		pair("Log", lit("testdata/idem_"+t.FileName+"_log.jsonl")),
		pair("Expected", lit("testdata/idem_"+t.FileName+"_expected.txt")),
	)
	switch {
	case handled(t):
		elems = append(elems, text("Edit: editTestLog"))
	case topicHandles(t):
		elems = append(elems, text("Own: true"))
	}
	return elems
}
