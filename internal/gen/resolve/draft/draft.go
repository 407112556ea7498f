// Package draft is a spec as far as package resolve has resolved it: every part beside the
// text that it comes from, with what was refused. Package resolve fills a draft, package check
// reads it, and nobody else knows it.
//
// It holds data and answers what one part says of itself. It reports nothing. It must not import
// any package of this module but model, syntax and wording.
package draft

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Service is a spec as far as it is resolved: each part beside the text that it comes from.
type Service struct {
	Spec   *syntax.Spec
	Types  *Types
	Tables *Tables
	Topics []*Topic
	Limits model.Limits
}

// Complete reports whether no part of the spec was refused.
func (d *Service) Complete() bool {
	if d.Spec.Broken || d.Spec.Consumer == nil || d.Spec.Package == nil {
		return false
	}
	return !slices.ContainsFunc(d.Types.All, func(t *Type) bool { return t.Broken }) &&
		!slices.ContainsFunc(d.Tables.All, func(t *Table) bool { return !t.complete() }) &&
		!slices.ContainsFunc(d.Topics, func(t *Topic) bool { return !t.Complete() })
}

// NamedEvents are the events whose names, and whose topics' names, were accepted.
func (d *Service) NamedEvents() []*Event {
	var out []*Event
	for _, t := range d.Topics {
		for _, e := range t.Events {
			if !t.Spec.Broken && !e.Spec.Broken {
				out = append(out, e)
			}
		}
	}
	return out
}

// Events are all events of the spec.
func (d *Service) Events() []*Event {
	var out []*Event
	for _, t := range d.Topics {
		out = append(out, t.Events...)
	}
	return out
}

// Steps are all steps of the spec whose table is known.
func (d *Service) Steps() []*Step {
	var out []*Step
	for _, e := range d.Events() {
		for _, st := range e.Steps {
			if st.Table != nil {
				out = append(out, st)
			}
		}
	}
	return out
}
