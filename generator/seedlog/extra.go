package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// special adds what pairs alone do not show: of each event that compares versions newer, equal
// and older ones, and of rows that otherwise differ from record to record a second copy, on
// two rows.
func (p *planner) special() {
	for _, e := range p.events {
		if p.does[e].once >= 0 {
			continue
		}
		if slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.IfNewer != nil && s.Newer.Field != nil }) {
			p.versions(e)
		}
		if slices.ContainsFunc(e.Steps, p.repeatable) && !p.roles.keyedByRow(e) {
			for range rowsPerPair {
				p.repeat(e)
			}
		}
	}
}

// empty adds a record without elements for each event that writes a row per element.
func (p *planner) empty() {
	for _, e := range p.events {
		if slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.Each != nil }) {
			at := p.lead(p.fresh(), e)
			p.visit(at, visit{event: e, row: at.row, bare: true})
		}
	}
}

// versions are records of one row with versions that rise, stay and fall.
func (p *planner) versions(e *model.Event) {
	at := p.fresh()
	orders := []int{newer, newer, equal, older}
	if p.roles.versionInKey(e) {
		orders = []int{newer, newer, older}
	}
	for _, version := range orders {
		at = p.lead(at, e)
		if _, ok := p.apply(e, at.state); ok {
			at = p.visit(at, visit{event: e, row: at.row, version: version})
		}
	}
}

func (p *planner) repeat(e *model.Event) {
	at := p.lead(p.fresh(), e)
	if at = p.visit(at, visit{event: e, row: at.row}); at.last == nil {
		return
	}
	refused := slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return p.repeatable(s) && s.IfExists != "skip" })
	if refused && p.does[e].halts {
		return
	}
	p.visits = append(p.visits, visit{event: e, row: at.row, again: true})
	p.occurs[e]++
	if refused {
		p.refused++
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
	return some && s.OnlyMakes()
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

// lifetime is what one row can live through: each event that can apply and deletes nothing
// applies once. What was deleted or overwritten proves nothing about its values.
func (p *planner) lifetime() (life []*model.Event) {
	now := p.first()
	lived := map[*model.Event]bool{}
	for more := true; more; {
		more = false
		for _, e := range p.events {
			deletes := slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.Removes })
			if lived[e] || deletes || !p.allowed(e, now) {
				continue
			}
			changes, ok := p.apply(e, now)
			if !ok {
				continue
			}
			now.set(changes)
			lived[e], more = true, true
			life = append(life, e)
		}
	}
	return life
}

// live plays a life on a fresh row.
func (p *planner) live(life []*model.Event, shape int) {
	at := p.fresh()
	for _, e := range life {
		at = p.visit(at, visit{event: e, row: at.row, shape: shape})
	}
}
