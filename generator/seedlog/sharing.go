package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// sharedKeys are records of two events under one key, where events share their keys
// (unique_per): each event of the space and behind it the next one, so that with two of them
// either comes first. Whatever both have is equal in both, their key included. So what tells
// the records apart is the event's name, and fields that only one of them has.
func (w *writer) sharedKeys(p *planner) (log []Record) {
	var spaces [][]*model.Event
	for _, e := range p.events {
		if e.Key == nil || e.Key.Offset {
			continue
		}
		at := slices.IndexFunc(spaces, func(of []*model.Event) bool { return of[0].Key.Space == e.Key.Space })
		if at < 0 {
			at, spaces = len(spaces), append(spaces, nil)
		}
		spaces[at] = append(spaces[at], e)
	}
	for _, events := range spaces {
		for i, a := range events {
			if b := events[(i+1)%len(events)]; a != b && !p.does[b].halts && sameHeaders(a, b) {
				log = append(log, w.sharedKey(p, a, b)...)
			}
		}
	}
	return log
}

// sharedKey is a record of a on a row of its own, behind what that row needs, and one of b
// that is like it. There is none if a cannot take effect.
func (w *writer) sharedKey(p *planner, a, b *model.Event) (log []Record) {
	way := p.wayTo(a)
	if len(way) == 0 || way[len(way)-1] != a {
		return nil
	}
	for _, step := range way {
		log = append(log, w.record(visit{event: step, row: p.row}))
	}
	first := log[len(log)-1]
	w.serial--
	second := w.record(visit{event: b, row: p.row, version: equal, again: true, shape: w.turn + 1, like: a})
	p.row++
	return append(log, second.withHeadersOf(first, headersOf(b.Key.Parts)))
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
