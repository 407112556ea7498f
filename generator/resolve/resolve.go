// Package resolve turns the spec as written into the model that the generators read. Data
// flows one way: [Resolve] reads the spec into a draft, the checks read the draft and report,
// and a draft without errors becomes the model.
//
// All problems are found in one run. What follows from a problem that is reported
// already stays silent: a part of the spec that was refused counts as unknown, and
// nothing is concluded from an unknown part.
//
// It must not import the packages that render (gocode, sqlcode, scaffold, output)
// and does no I/O: whether the sample records decode (E114) is not decided here.
package resolve

import (
	"path"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// Resolve checks spec and returns it as a model. The model is nil if a problem is an
// error or if package schema refused a part of spec; warnings do not count. Identity and Schema of
// the service are left 0: they come from the generator's memory, not from the spec.
func Resolve(spec *schema.Spec) (*model.Service, schema.Diagnostics) {
	var report schema.Diagnostics
	d := readSpec(&report, spec)
	for _, check := range checks {
		check(&report, d)
	}
	if report.Errors() > 0 || !d.complete() {
		return nil, report
	}
	s := d.service()
	planWrites(s)
	defineContents(s)
	return s, report
}

// readSpec looks up every name, reads every type word and fills every column.
func readSpec(report *schema.Diagnostics, spec *schema.Spec) *draft {
	d := &draft{spec: spec, types: resolveTypes(report, spec.Types), tables: resolveTables(report, spec), limits: resolveLimits(report, spec.Limits)}
	topics := topicReader{report: report, consumer: spec.Consumer, types: d.types, tables: d.tables}
	topics.failure = resolveFailure(report, defaultFailure, spec.OnFailure)
	for _, t := range spec.Topics {
		d.topics = append(d.topics, topics.resolveTopic(t))
	}
	return d
}

// draft is a spec as far as it is resolved: each part beside the text that it comes from.
type draft struct {
	spec   *schema.Spec
	types  *types
	tables *tables
	topics []*topic
	limits model.Limits
}

// complete reports whether no part of the spec was refused.
func (d *draft) complete() bool {
	if d.spec.Broken || d.spec.Consumer == nil || d.spec.Package == nil {
		return false
	}
	return !slices.ContainsFunc(d.types.all, func(t *typeEntry) bool { return t.broken }) &&
		!slices.ContainsFunc(d.tables.all, func(t *table) bool { return !t.complete() }) &&
		!slices.ContainsFunc(d.topics, func(t *topic) bool { return !t.complete() })
}

// service collects the resolved parts.
func (d *draft) service() *model.Service {
	spec := d.spec
	s := &model.Service{
		Source:     path.Base(spec.File),
		Consumer:   spec.Consumer.Value,
		Package:    spec.Package.Value,
		Doc:        serviceDoc(spec),
		Migrations: migrations(spec.Migrations),
		Limits:     d.limits,
	}
	if spec.Examples != nil {
		s.Examples = spec.Examples.Value
	}
	for _, t := range d.types.all {
		s.Types = append(s.Types, t.model)
	}
	for _, t := range d.tables.all {
		s.Tables = append(s.Tables, t.model)
	}
	for _, t := range d.topics {
		s.Topics = append(s.Topics, t.model)
	}
	return s
}

func migrations(m *schema.Migrations) model.Migrations {
	out := model.Migrations{Dir: "migrations", Format: "sql"}
	if m != nil && m.Dir != nil {
		out.Dir = path.Clean(m.Dir.Value)
	}
	if m != nil && m.Format != nil {
		out.Format = m.Format.Value
	}
	return out
}

// namedEvents are the events whose names, and whose topics' names, were accepted.
func (d *draft) namedEvents() []*event {
	var out []*event
	for _, t := range d.topics {
		for _, e := range t.events {
			if !t.spec.Broken && !e.spec.Broken {
				out = append(out, e)
			}
		}
	}
	return out
}

// events are all events of the spec.
func (d *draft) events() []*event {
	var out []*event
	for _, t := range d.topics {
		out = append(out, t.events...)
	}
	return out
}

// steps are all steps of the spec whose table is known.
func (d *draft) steps() []*step {
	var out []*step
	for _, e := range d.events() {
		for _, st := range e.steps {
			if st.table != nil {
				out = append(out, st)
			}
		}
	}
	return out
}
