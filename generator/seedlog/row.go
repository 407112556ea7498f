package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// position is where a walk stands; last is nil if the last event was refused.
type position struct {
	row   int
	state state
	last  *model.Event
}

// fresh is the start of a row that no record has touched.
func (p *planner) fresh() position {
	p.met = map[pair]bool{}
	p.row++
	return position{row: p.row - 1, state: p.first()}
}

// first is what is known of such a row: some tables may have one before the log.
func (p *planner) first() state {
	now := state{}
	for _, t := range p.roles.before {
		if at, known := p.bit[t]; known {
			now[at] = true
		}
	}
	return now
}

// visit adds a record. One that would halt the partition is left out.
func (p *planner) visit(at position, v visit) position {
	changes, ok := p.apply(v.event, at.state)
	if !ok && p.does[v.event].halts {
		at.last = nil
		return at
	}
	p.visits = append(p.visits, v)
	p.occurs[v.event]++
	two := pair{at.last, v.event}
	if at.last != nil && v.version == newer && !v.bare && p.wants(two) {
		p.met[two] = true
		if p.wanted[two]--; p.wanted[two] == 0 {
			p.give(two)
		}
	}
	if !ok {
		p.refused++
		at.last = nil
		return at
	}
	at.state.set(changes)
	at.last = v.event
	if v.version != newer || v.bare {
		at.last = nil
	}
	return at
}

// give gives up looking for the pair.
func (p *planner) give(two pair) {
	open := p.open[two.a]
	if i := slices.Index(open, two.b); i >= 0 {
		p.open[two.a] = slices.Delete(open, i, i+1)
	}
}

// allowed reports whether the event's key is still unused on this row.
func (p *planner) allowed(e *model.Event, s state) bool {
	once := p.does[e].once
	return once < 0 || !s[once]
}

// lead makes what the first event needs. The key spaces of the events stay unused.
func (p *planner) lead(at position, events ...*model.Event) position {
	d := p.does[events[0]]
	for _, t := range slices.Concat(d.needs, d.likes) {
		at = p.ensure(at, t, events...)
	}
	return at
}

// ensure makes a row of the table if there is none and some event can, and leaves the key
// spaces of the events unused.
func (p *planner) ensure(at position, table int, events ...*model.Event) position {
	return p.making(at, table, events, map[int]bool{})
}

func (p *planner) making(at position, table int, reserved []*model.Event, busy map[int]bool) position {
	if at.state[table] || busy[table] {
		return at
	}
	busy[table] = true
	for _, e := range p.makers[table][:min(sight, len(p.makers[table]))] {
		d := p.does[e]
		taken := func(o *model.Event) bool { return d.once >= 0 && p.does[o].once == d.once }
		if !p.allowed(e, at.state) || slices.ContainsFunc(reserved, taken) {
			continue
		}
		for _, t := range d.needs {
			at = p.making(at, t, reserved, busy)
		}
		if _, ok := p.apply(e, at.state); ok {
			return p.visit(at, visit{event: e, row: at.row})
		}
	}
	return at
}

// wayTo is a way on a fresh row that ends with the event. The row stays fresh.
func (p *planner) wayTo(e *model.Event) (path []*model.Event) {
	from, row := len(p.visits), p.row
	p.visit(p.lead(p.fresh(), e), visit{event: e})
	for _, v := range p.visits[from:] {
		path = append(path, v.event)
	}
	p.visits, p.row = p.visits[:from], row
	return path
}
