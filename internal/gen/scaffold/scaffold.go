// Package scaffold renders starter files: those that idemgen writes once and that are the
// team's own from then on. Whether one is still needed is not decided here.
//
// It must not import any package of this module but model and templates.
package scaffold

import (
	"bytes"
	"fmt"
	"go/format"
	"go/types"
	"path"
	"slices"
	"text/template"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/templates"
)

// Names of the starter files, relative to the folder of the spec.
const (
	SpecFile       = "idemgen.yaml"
	GenerateFile   = "gen.go"
	HandlerFile    = "handler.go"
	SetupFile      = "idem_setup_test.go"
	AttributesFile = ".gitattributes"
	EditorFolder   = ".idemgen" // of the JSON Schemas that starter files name to editors
)

// Names that the starter files declare and that other files refer to.
const (
	ServiceType = "Service"
	TestHandler = "newTestHandler"
	TestLog     = "editTestLog"
)

// MainFile returns the name of the program's file: cmd/<consumer>/main.go.
func MainFile(consumer string) string { return path.Join("cmd", consumer, "main.go") }

// Spec renders a commented spec to start from.
func Spec(consumer, pkg string) ([]byte, error) {
	return fill("idemgen.yaml.tmpl", struct{ Consumer, Package string }{consumer, pkg})
}

// Existing is what a first spec says of tables that exist already.
type Existing struct {
	Consumer, Package string
	Tables            string // the section
	Table             string // into which the sample's event inserts; "" if it is handled in Go
	Fields, Leave     string // of that event
}

// SpecOf renders a commented spec to start from, over tables that exist already.
func SpecOf(e Existing) ([]byte, error) { return fill("existing.yaml.tmpl", e) }

// SpecOfTopic renders a commented spec for what a topic holds.
func SpecOfTopic(t Topic) ([]byte, error) { return fill("fromtopic.yaml.tmpl", t) }

// Attributes renders .gitattributes.
func Attributes() ([]byte, error) { return fill("gitattributes.tmpl", nil) }

// Generate renders gen.go, which holds the go:generate line.
func Generate(s *model.Service) ([]byte, error) { return goFile("gen.go.tmpl", s) }

// Clients are the Kafka clients that a program may have, by their packages. The first one is the
// usual one; franz needs no cgo.
var Clients = []string{"confluent", "franz"}

// Main renders the program, with one of the clients; importPath is that of the generated package.
func Main(s *model.Service, importPath, client string) ([]byte, error) {
	name := s.Package
	if slices.Contains(inMain, name) || types.Universe.Lookup(name) != nil {
		name += "pkg"
	}
	return goFile("main.go.tmpl", struct {
		*model.Service
		Handled, Registry                     bool
		Name, ImportPath, LastElement, Client string
	}{s, len(Handled(s)) > 0, slices.ContainsFunc(s.Topics, func(t *model.Topic) bool { return t.Payload.Messages.Registry() }), name, importPath, path.Base(importPath), client})
}

// inMain are the names that the program has a use for, beside those of the language.
var inMain = []string{
	"cmp", "context", "errors", "slog", "http", "os", "signal", "syscall", "time", "pgxpool", "idem", "confluent", "franz",
	"prometheus", "promhttp", "idemprom", "run", "answers", "metrics", "stop", "err", "ctx", "brokers", "dsn", "level", "db", "consumer", "server", "serving", "listener", "net", "mux", "w",
	"redis", "redislease", "options", "client", "sr", "registry", "schemas", "strings",
}

// Handler renders type Service with a method for each handled event. Each returns
// ErrNotImplemented, so that a forgotten one halts its partition and loses nothing.
func Handler(s *model.Service) ([]byte, error) {
	var methods []method
	for _, e := range Handled(s) {
		methods = append(methods, method{ServiceType, e})
	}
	return goFile("handler.go.tmpl", struct {
		*model.Service
		Methods []method
	}{s, methods})
}

// SampleHandler renders what Handler does, written for the spec of Spec.
func SampleHandler(s *model.Service) ([]byte, error) { return goFile("sample_handler.go.tmpl", s) }

// SampleCase is the case of that handler, and its name.
func SampleCase() (name string, content []byte, err error) {
	content, err = fill("sample_case.yaml.tmpl", nil)
	return "order_paid", content, err
}

// method is what the template of a handler's method needs.
type method struct {
	Receiver string
	*model.Event
}

// Method renders the method of one handled event as Handler does, for a type that is there.
func Method(receiver string, e *model.Event) ([]byte, error) {
	text, err := fillPart("handler.go.tmpl", "method", method{receiver, e})
	return bytes.TrimSpace(text), err
}

// Needs are the functions that the set-up of the generated tests must have.
type Needs struct {
	TestHandler, TestLog bool
	Scaffolded           bool // the handler under test is that of Handler
}

// Setup renders the set-up of the generated tests.
func Setup(s *model.Service, needs Needs) ([]byte, error) {
	return goFile("setup_test.go.tmpl", struct {
		*model.Service
		Needs
		Effects bool
	}{s, needs, slices.ContainsFunc(Handled(s), func(e *model.Event) bool { return e.Effect != nil })})
}

// Handled returns the events that have a method in Go, in spec order.
func Handled(s *model.Service) []*model.Event {
	var events []*model.Event
	for _, t := range s.Topics {
		for _, e := range t.Events {
			if e.HasCode() {
				events = append(events, e)
			}
		}
	}
	return events
}

func fill(name string, data any) ([]byte, error) { return fillPart(name, name, data) }

// fillPart executes one of the templates that a file defines.
func fillPart(name, part string, data any) ([]byte, error) {
	t, err := template.ParseFS(templates.Scaffold, "scaffold/"+name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, part, data); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func goFile(name string, data any) ([]byte, error) {
	text, err := fill(name, data)
	if err != nil {
		return nil, err
	}
	code, err := format.Source(text)
	if err != nil {
		return nil, fmt.Errorf("template %s produces invalid Go code: %w", name, err)
	}
	return code, nil
}
