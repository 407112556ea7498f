package gocode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// testFile is idem_gen_test.go: a test for each topic, one for the cases, and the service under
// test.
func (p *pkg) testFile(tests Tests) *file {
	f := newFile("idem_gen_test.go", p.service.Package, p.service.Source)
	for _, t := range p.service.Topics {
		topicTest(f, t)
		if slices.ContainsFunc(packings(t), func(p packing) bool { return p.Messages != nil }) {
			f.jen.Anon(idemtestPath + "/testmessages")
		}
	}
	p.casesTest(f, tests)
	if !p.handles() {
		return f
	}
	f.structType("stubHandler accepts every event and does nothing: the tables hold only what the spec writes.", "stubHandler", func(*group) {})
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

// ExternalFile makes the tables of others in the databases of tests.
const ExternalFile = "testdata/idem_external.sql"

// topicTest is the test of a topic.
func topicTest(f *file, t *model.Topic) {
	doc := fmt.Sprintf("Test%s delivers records of topic %q, generated from the spec, in the ways that testService lists.", t.GoName, t.Name)
	params := []code{named("t", pointer(qual("testing", "T")))}
	f.fn(doc, "", "Test"+t.GoName, params, nil, func(g *group) { g.Add(call("testService().RunTopic", text("t"), lit(t.Name))) })
}

// casesTest is the test of the cases: the team's own, with the team's own handlers. What it plays
// is a function apart, so that the team can play it over other tables, too.
func (p *pkg) casesTest(f *file, tests Tests) {
	doc := "TestCases applies the records of each case in " + tests.Cases + " with duplicates,\nin batches of every size and over crashes, and compares the tables with the case."
	params := []code{named("t", pointer(qual("testing", "T")))}
	f.fn(doc, "", "TestCases", params, nil, func(g *group) { g.Add(text("testService().RunCases(t)")) })
	doc = "testService returns the service under test."
	elems := []code{pair("Spec", lit(p.service.Source)), pair("Digest", lit(tests.Digest))}
	handler := ""
	if p.handles() {
		handler = ", " + testHandler(p.service)
		doc += " newTestHandler is yours, in idem_setup_test.go."
		elems = append(elems, pair("Stub", newConsumer(p.service, ", stubHandler{}")))
	}
	elems = append(elems, pair("New", newConsumer(p.service, handler)))
	if slices.ContainsFunc(p.service.Topics, handled) {
		doc = strings.Replace(doc, " is yours", " and editTestLog are yours", 1)
		elems = append(elems, text("Edit: editTestLog"))
	}
	doc += "\n\nThe tests of topics deliver records in these ways, and the rows must be the same each time: " + strings.Join(tests.Scenarios, "; ") + ". go test -v prints records and rows."
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
			if handler != "" {
				args.Add(text(", ")).Add(qual(idemtestPath, "Options").Call(text("t"), text("db"))).Add(text("..."))
			}
			g.Return(call("NewConsumer", args))
		})
}
