// Package resolve turns the spec as written into the model that the generators read. Data
// flows one way: [Resolve] reads the spec into a draft, the checks read the draft and report,
// and a draft without errors becomes the model.
//
// All problems are found in one run. What follows from a problem that is reported
// already stays silent: a part of the spec that was refused counts as unknown, and
// nothing is concluded from an unknown part.
//
// It does no I/O: whether the sample records decode (E114) is not decided here. It must not import
// any package of this module but check, definition, draft, goname, model, syntax, typeword, waves
// and wording.
package resolve

import (
	"path"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/check"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/waves"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Resolve checks spec and returns it as a model. The model is nil if a problem is an
// error or if package syntax refused a part of spec. Identity and Schema of
// the service are left 0: they come from the generator's memory, not from the spec.
func Resolve(spec *syntax.Spec) (*model.Service, syntax.Diagnostics) {
	var report syntax.Diagnostics
	d := readSpec(&report, spec)
	check.Run(&report, d)
	if report.Errors() > 0 || !d.Complete() {
		return nil, report
	}
	s := service(d)
	waves.Plan(s)
	defineContents(s)
	return s, report
}

// readSpec looks up every name, reads every type word and fills every column.
func readSpec(report *syntax.Diagnostics, spec *syntax.Spec) *draft.Service {
	d := &draft.Service{Spec: spec, Tables: resolveTables(report, spec), Limits: resolveLimits(spec.Limits)}
	topics := topicReader{report: report, consumer: spec.Consumer, tables: d.Tables}
	topics.readTypes(spec)
	d.Types = topics.types
	for _, t := range spec.Topics {
		d.Topics = append(d.Topics, topics.resolveTopic(t))
	}
	return d
}

func migrations(m *syntax.Migrations) model.Migrations {
	out := model.Migrations{Dir: "migrations", Format: "sql"}
	if m != nil && m.Dir != nil {
		out.Dir = path.Clean(m.Dir.Value)
	}
	if m != nil && m.Format != nil {
		out.Format = m.Format.Value
	}
	return out
}

// service is the model of a draft that has no errors.
func service(d *draft.Service) *model.Service {
	spec := d.Spec
	s := &model.Service{
		Source:     path.Base(spec.File),
		Consumer:   spec.Consumer.Value,
		Package:    spec.Package.Value,
		Doc:        serviceDoc(spec),
		Migrations: migrations(spec.Migrations),
		Limits:     d.Limits,
	}
	if spec.Examples != nil {
		s.Examples = spec.Examples.Value
	}
	for _, t := range d.Types.All {
		s.Types = append(s.Types, t.Model)
	}
	for _, t := range d.Tables.All {
		s.Tables = append(s.Tables, t.Model)
	}
	for _, t := range d.Topics {
		s.Topics = append(s.Topics, t.Model)
	}
	return s
}
