package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// extras adds what needs a row that exists: on the first row an equal and an older version
// and empty lists, on the first two a second copy of rows that otherwise differ from
// record to record.
func (p *planner) extras(at position, row int) {
	reach := func(e *model.Event, ready func(state) bool) bool {
		if ready(at.state) {
			return true
		}
		path := p.search(at, func(from position, last *model.Event) bool {
			after, ok := p.apply(last, from.state)
			return ok && ready(after)
		})
		for _, e := range path {
			at = p.visit(at, visit{event: e, row: row})
		}
		return path != nil
	}
	for _, e := range p.events {
		if _, once := p.once[e]; once {
			continue
		}
		applies := func(s state) bool { _, ok := p.apply(e, s); return ok }
		guarded := slices.IndexFunc(e.Steps, func(s *model.Step) bool { return s.IfNewer != nil && s.Newer.Field != nil })
		if row == 1 && guarded >= 0 {
			there := func(s state) bool { return applies(s) && s.has(p.bit[e.Steps[guarded].Table]) }
			if reach(e, there) {
				if !p.roles.versionInKey(e) {
					at = p.visit(at, visit{event: e, row: row, version: equal})
				}
				if reach(e, there) {
					at = p.visit(at, visit{event: e, row: row, version: older})
				}
			}
		}
		if row == 1 && slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.Each != nil }) && reach(e, applies) {
			at = p.visit(at, visit{event: e, row: row, bare: true})
		}
		if row <= rowsPerPair && slices.ContainsFunc(e.Steps, p.repeatable) && !p.roles.keyedByRow(e) && reach(e, applies) {
			at = p.visit(at, visit{event: e, row: row})
			p.visits = append(p.visits, visit{event: e, row: row, again: true})
			if slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return p.repeatable(s) && s.IfExists != "skip" }) {
				p.refused++
			}
			at.last = nil
		}
	}
}

// repeatable reports whether the step's row differs from record to record only by fields
// that the log can repeat.
func (p *planner) repeatable(s *model.Step) bool {
	some := false
	for _, a := range s.Set {
		if f := a.Value.Field; f != nil && slices.Contains(s.Table.PrimaryKey, a.Column) {
			if f.Source.Kind == model.FromRecord {
				return false
			}
			some = some || p.roles.byRecord[byRecord{s.Event, f}]
		}
	}
	return some && s.Verb == model.Insert
}

// shapes is how many records show all that the topic's events can look like: optional
// fields are present, null or absent.
func (p *planner) shapes() int {
	for _, e := range p.events {
		if slices.ContainsFunc(e.Fields, func(f *model.Field) bool { return varied(f, 0) }) {
			return 3
		}
	}
	return 1
}

func varied(f *model.Field, depth int) bool {
	t := f.Type
	return t.Optional || f.Default != nil || t.Kind == model.List ||
		t.Kind == model.Object && depth < 8 && slices.ContainsFunc(t.Named.Fields, func(m *model.Field) bool { return varied(m, depth+1) })
}

// life adds a fresh row on which each event that can apply and deletes nothing applies
// once: what was deleted or overwritten proves nothing about its values. It returns false
// if no event can.
func (p *planner) life(row, shape int) bool {
	at := position{state: p.empty}
	lived := map[*model.Event]bool{}
	for range p.events {
		for _, e := range p.events {
			deletes := slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.Verb == model.Delete })
			if _, ok := p.apply(e, at.state); ok && !lived[e] && !deletes && p.allowed(e, at.state) {
				lived[e] = true
				at = p.visit(at, visit{event: e, row: row, shape: shape})
				break
			}
		}
	}
	return len(lived) > 0
}
