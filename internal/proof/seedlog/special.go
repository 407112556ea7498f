package seedlog

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// special plans what pairs alone do not show: of an event that compares versions newer, equal and
// older ones; of rows that otherwise differ from record to record a second copy, on two rows; and
// a record without elements if the event writes a row per element.
func (p *planner) special(e *model.Event, add func(string, func(state))) {
	if p.does[e].keySpace < 0 {
		if slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.If.Newer != nil && s.If.Version.Field != nil }) {
			add("versions", func(now state) { p.versions(now, e) })
		}
		if slices.ContainsFunc(e.Steps, p.repeatable) && !p.roles.keyedByRow(e) {
			for n := range rowsPerPair {
				add(fmt.Sprintf("again %d", n), func(now state) { p.repeat(now, e) })
			}
		}
	}
	if slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.Each != nil }) {
		add("empty", func(now state) { p.prepared(now, visit{event: e, bare: true}) })
	}
}

// versions are records of one row with versions that rise, stay and fall.
func (p *planner) versions(now state, e *model.Event) {
	orders := []int{newer, newer, equal, older}
	if p.roles.versionInKey(e) {
		orders = []int{newer, newer, older}
	}
	for _, version := range orders {
		p.prepare(now, e)
		v := visit{event: e, version: version}
		if _, ok := p.apply(v, now); ok {
			p.visit(now, v)
		}
	}
}

func (p *planner) repeat(now state, e *model.Event) {
	if !p.prepared(now, visit{event: e}) {
		return
	}
	refused := slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return p.repeatable(s) && s.If.Exists != "skip" })
	if refused && p.does[e].halts {
		return
	}
	if !refused {
		p.visit(now, visit{event: e, again: true})
		return
	}
	p.visits = append(p.visits, visit{event: e, again: true})
	p.refused++
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
	return some && s.OnlyMakes()
}

// varied reports whether a field can look different: present, null, absent, or of other lengths.
func varied(f *model.Field, depth int) bool {
	t := f.Type
	return t.Optional || f.Default != nil || f.Patch || t.Elem != nil ||
		t.Kind == model.Object && depth < 8 && slices.ContainsFunc(t.Named.Fields, func(m *model.Field) bool { return varied(m, depth+1) })
}
