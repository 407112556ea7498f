package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// sharedKeys are records of two events under one key, where events share their keys
// (unique_per): the event behind the one before it in the space, and once also that one behind it.
// So every event of the space comes second once. Whatever both have is equal in both, their key
// included. So what tells the records apart is the event's name, and fields that only one of them
// has.
func (w *writer) sharedKeys(p *planner, e *model.Event) (log []Record) {
	if e.Key == nil || e.Key.Offset {
		return nil
	}
	var before []*model.Event // of the space
	for _, o := range p.events[:slices.Index(p.events, e)] {
		if o.Key != nil && !o.Key.Offset && o.Key.Space == e.Key.Space {
			before = append(before, o)
		}
	}
	if len(before) == 0 {
		return nil
	}
	log = w.sharedKey(p, before[len(before)-1], e)
	if len(before) == 1 {
		log = append(log, w.sharedKey(p, e, before[0])...)
	}
	return log
}

// sharedKey is a record of a on a row of its own, behind what that row needs, and one of b
// that is like it. There is none if a cannot take effect.
func (w *writer) sharedKey(p *planner, a, b *model.Event) (log []Record) {
	if p.does[b].halts || !sameHeaders(a, b) {
		return nil
	}
	way := p.wayTo(a.GoName+" shares its key with "+b.GoName, a, 0)
	if len(way) == 0 {
		return nil
	}
	log = w.records(way)
	first, like := log[len(log)-1], way[len(way)-1]
	second := w.record(visit{event: b, row: like.row, number: like.number, version: equal, again: true, like: a})
	for i, h := range second.Headers {
		same := func(o Header) bool { return o.Name == h.Name }
		if slices.ContainsFunc(b.Key.Parts, func(p model.KeySource) bool { return p.Field == nil && p.Header == h.Name }) {
			second.Headers[i] = first.Headers[slices.IndexFunc(first.Headers, same)]
		}
	}
	return append(log, second)
}

// sameHeaders reports whether both events read the headers of their key in one way.
func sameHeaders(a, b *model.Event) bool {
	kind := func(e *model.Event, p model.KeySource) (model.Kind, *model.Type) {
		if f := keyField(e, p); f != nil {
			return f.Type.Kind, f.Type.Named
		}
		return model.String, nil
	}
	for i, p := range a.Key.Parts {
		kindA, typeA := kind(a, p)
		if kindB, typeB := kind(b, b.Key.Parts[i]); kindA != kindB || typeA != typeB {
			return false
		}
	}
	return true
}

// likeness is the field of the event that the record is to be like which is the same part of
// its key; nil if there is none.
func (w *writer) likeness(f *model.Field) *model.Field {
	like := w.now.like
	if like == nil {
		return nil
	}
	for i, p := range w.now.event.Key.Parts {
		if p.Field == f {
			return like.Key.Parts[i].Field
		}
	}
	return nil
}
