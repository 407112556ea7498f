// Package resolve turns the spec as written into the model that the generators read:
// it looks up every name, reads every type word, fills every column, and runs the
// checks that need more than one place of the spec.
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
	r := &resolver{spec: spec, types: map[string]*typeEntry{}, tables: map[string]*table{}}
	r.resolveTypes()
	r.resolveTables()
	for _, t := range spec.Topics {
		topic := r.resolveTopic(t)
		r.checkWindows(topic)
		topic.resolveKeep()
		r.topics = append(r.topics, topic)
	}
	r.checkKeysAlike()
	r.checkSafety()
	r.checkUnused()
	limits := r.resolveLimits()
	r.checkExtents(limits)
	r.checkGoNames()
	r.checkDatabaseNames()
	r.warn()
	if r.diags.Errors() > 0 || !r.complete() {
		return nil, r.diags
	}
	s := r.service()
	s.Limits = limits
	planWrites(s)
	defineContents(s)
	return s, r.diags
}

// complete reports whether no part of the spec was refused.
func (r *resolver) complete() bool {
	if r.spec.Broken || r.spec.Consumer == nil || r.spec.Package == nil {
		return false
	}
	for _, t := range r.types {
		if t.broken {
			return false
		}
	}
	for _, t := range r.tables {
		if t.broken || slices.ContainsFunc(t.columns, func(c *column) bool { return c.broken }) {
			return false
		}
	}
	return !slices.ContainsFunc(r.topics, func(t *topic) bool { return !t.complete() })
}

func (t *topic) complete() bool {
	if t.spec.Broken || t.orderUnknown || slices.ContainsFunc(t.fields, func(f fieldInfo) bool { return f.field == nil }) {
		return false
	}
	return !slices.ContainsFunc(t.events, func(e *event) bool { return e.unsure || e.model.Key == nil })
}

// service collects the resolved parts.
func (r *resolver) service() *model.Service {
	spec := r.spec
	s := &model.Service{
		Source:     path.Base(spec.File),
		Consumer:   spec.Consumer.Value,
		Package:    spec.Package.Value,
		Doc:        serviceDoc(spec),
		Migrations: migrations(spec.Migrations),
	}
	if spec.Examples != nil {
		s.Examples = spec.Examples.Value
	}
	for _, t := range spec.Types {
		s.Types = append(s.Types, r.types[t.Name.Value].model)
	}
	for _, t := range spec.Tables {
		s.Tables = append(s.Tables, r.tables[t.Name.Value].model)
	}
	for _, t := range r.topics {
		s.Topics = append(s.Topics, t.model)
	}
	return s
}

// resolver holds what one run knows so far.
type resolver struct {
	spec   *schema.Spec
	diags  schema.Diagnostics
	types  map[string]*typeEntry
	tables map[string]*table
	topics []*topic
}

// fail adds an error or a warning; hint may be "".
func (r *resolver) fail(pos schema.Pos, code, message, hint string) {
	r.diags.Add(pos, code, message, hint)
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
