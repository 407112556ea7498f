package gocode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// serviceFile is idem_gen.go: what the topics have in common.
func (p *pkg) serviceFile() *file {
	s := p.service
	f := newFile("idem_gen.go", s.Package, s.Source)
	f.packageDoc(packageDoc(s))
	f.decl("Fails to compile if this code was generated for another version of the runtime.", text("const _ =").Add(wire("CompatV1")))
	params := []code{named("db", pointer(qual(pgxpoolPath, "Pool")))}
	if readsRegistry(s.Topics) {
		params = append(params, registryParam())
	}
	if p.handles() {
		f.interfaceType("Handler is implemented by the service: one method per event with Go code.", "Handler", func(g *group) {
			for _, t := range s.Topics {
				if topicHandles(t) {
					g.Add(text(handlerType(t)))
				}
			}
		})
		params = append(params, named("h", text("Handler")))
	}
	doc := fmt.Sprintf("NewConsumer returns consumer %q.", s.Consumer)
	if readsRegistry(s.Topics) {
		doc += "\nThe registry provides the schemas that records were written with: pass registry.New(client)."
	}
	if s.HasEffects() {
		doc += "\nThe leases of effects are stored in Postgres, or in the store that idem.WithLeases sets."
	}
	params = append(params, named("opts", text("...").Add(idem("Option"))))
	f.fn(doc, "", "NewConsumer", params, results(pointer(idem("Consumer")), text("error")), func(g *group) {
		options := text("opts...")
		if s.HasEffects() {
			options = text("append").Call(slice(idem("Option").Values(qual(effectsPath, "Option").Call())), text("opts...")).Op("...")
		}
		g.Return(idem("New").Call(text("db"), p.serviceLiteral(), options))
	})
	for _, t := range s.Types {
		if len(t.Enum) > 0 {
			p.enum(f, t)
		} else {
			p.object(f, t)
		}
	}
	return f
}

// packageDoc begins as Go package comments do.
func packageDoc(s *model.Service) string {
	doc := fmt.Sprintf("Package %s applies the topics of consumer %q to Postgres.", s.Package, s.Consumer)
	switch text := docOf(s.Doc, doc); {
	case text == doc || strings.HasPrefix(text, "Package "):
		return text
	default:
		return doc + "\n\n" + text
	}
}

// listing joins words as in a sentence: a, b and c.
func listing(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

func (p *pkg) serviceLiteral() code {
	s := p.service
	var topics []code
	for _, t := range s.Topics {
		for _, name := range t.Kafka {
			var args []code
			if len(t.Kafka) > 1 {
				args = append(args, lit(name))
			}
			if len(t.OfRegistry()) > 0 {
				args = append(args, text("registry"))
			}
			if topicHandles(t) {
				args = append(args, text("h"))
			}
			topics = append(topics, call(topicFunc(t), args...))
		}
	}
	elems := []code{
		pair("Source", lit(s.Source)),
		pair("Consumer", lit(s.Consumer)),
		pair("Schema", schemaLiteral(s.Schema)),
		pair("Identity", identityLiteral(s.Identity)),
		pair("Limits", limits(s)),
		pair("Tables", composite(slice(wire("Table")), p.serviceTables())),
		pair("Topics", composite(slice(wire("Topic")), topics)),
	}
	return composite(wire("Service"), elems)
}

func schemaLiteral(versions map[string]int) code {
	var elems []code
	for _, part := range slices.Sorted(maps.Keys(versions)) {
		elems = append(elems, text("%q: %d", part, versions[part]))
	}
	return text("map[string]int").Values(elems...)
}

func identityLiteral(id model.Identity) code {
	var knows []code
	for _, def := range id.Knows {
		knows = append(knows, text("%#08x", def))
	}
	return composite(wire("Identity"), []code{pair("Writes", text("%#08x", id.Writes)), pair("Knows", composite(slice(text("uint32")), knows))})
}

func limits(s *model.Service) code {
	l := s.Limits
	elems := []code{
		pair("BatchEvents", lit(l.BatchEvents)),
		pair("BatchBytes", size(l.BatchBytes)),
		pair("BatchWait", duration(l.BatchWait)),
		pair("BatchTimeout", duration(l.BatchTimeout)),
		pair("EventTimeout", duration(l.EventTimeout)),
		pair("StatementTimeout", duration(l.StatementTimeout)),
		pair("LockTimeout", duration(l.LockTimeout)),
		pair("MaxPollInterval", duration(l.MaxPollInterval)),
		pair("MaxPayload", size(l.MaxPayload)),
	}
	if s.HasEffects() {
		elems = append(elems, pair("Effects", lit(l.Effects)))
	}
	return composite(wire("Limits"), elems)
}
