package seedlog

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// otherKeys are records of an event that is known by more than its own key, or by none: per
// former source a record and its copy under another key of its own, and a record without the
// headers of its key. Each stands on a row of its own, behind what that row needs.
func (w *writer) otherKeys(p *planner, e *model.Event) (log []Record) {
	if e.Key == nil || e.Key.Offset {
		return nil
	}
	for i, former := range e.Key.Former {
		way := p.wayTo(fmt.Sprintf("%s former %d", e.GoName, i), e, 1)
		if len(way) == 0 {
			continue
		}
		log = append(log, w.records(way)...)
		if again, ok := w.copied(log[len(log)-1], former.Parts); ok {
			log = append(log, again)
		}
	}
	if way := p.wayTo(e.GoName+" without its key", e, 0); e.Key.OffsetIfMissing && len(way) > 0 {
		log = append(log, w.records(way)...)
		last := &log[len(log)-1]
		for _, s := range sources(e) {
			*last = last.without(headersOf(s))
		}
		last.Keyed = slices.ContainsFunc(e.Key.Former, func(k model.FormerKey) bool { return len(headersOf(k.Parts)) == 0 })
	}
	return log
}

// copied is a copy of the record that only one former source gives away. If the event's own
// key has headers which that source has not, they differ, or are missing where they may be;
// else the copy is another record of the row under the source's headers. There is none if the
// source has fields that the payload would have to repeat.
func (w *writer) copied(of Record, source []model.KeySource) (Record, bool) {
	e := w.now.event
	kept := headersOf(source)
	var others []string // that no field reads either
	for _, s := range sources(e) {
		for _, part := range s {
			if keyField(e, part) == nil && !slices.Contains(kept, part.Header) {
				others = append(others, part.Header)
			}
		}
	}
	if slices.ContainsFunc(headersOf(e.Key.Parts), func(h string) bool { return slices.Contains(others, h) }) {
		if e.Key.OffsetIfMissing {
			return of.without(others), true
		}
		return of.with(others, "k-other"), true
	}
	if len(kept) < len(source) {
		return Record{}, false
	}
	again := w.record(visit{event: e, row: w.now.row, number: w.now.number + 1})
	return again.withHeadersOf(of, kept), true
}

func headersOf(source []model.KeySource) (names []string) {
	for _, p := range source {
		if p.Field == nil {
			names = append(names, p.Header)
		}
	}
	return names
}

func (r Record) without(headers []string) Record {
	r.Headers = slices.DeleteFunc(slices.Clone(r.Headers), func(h Header) bool { return slices.Contains(headers, h.Name) })
	return r
}

// withHeadersOf gives some headers the values that they have in another record.
func (r Record) withHeadersOf(of Record, headers []string) Record {
	for i, h := range r.Headers {
		if slices.Contains(headers, h.Name) {
			r.Headers[i] = of.Headers[slices.IndexFunc(of.Headers, func(o Header) bool { return o.Name == h.Name })]
		}
	}
	return r
}

// with gives some headers other values.
func (r Record) with(headers []string, prefix string) Record {
	r.Headers = slices.Clone(r.Headers)
	for i, h := range r.Headers {
		if slices.Contains(headers, h.Name) {
			r.Headers[i].Value = append([]byte(prefix), h.Value...)
		}
	}
	return r
}
