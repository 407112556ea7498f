package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// state is what is known of one row: which tables have a row of its number, and which key spaces
// it has used up.
type state map[int]bool

// change sets one entry of a state.
type change struct {
	at int
	on bool
}

func (s state) set(changes []change) {
	for _, c := range changes {
		s[c.at] = c.on
	}
}

// first is what is known of a row that no record has touched: some tables may have one before the
// log.
func (p *planner) first() state {
	now := state{}
	for _, t := range p.roles.before {
		if at, known := p.index[t]; known {
			now[at] = true
		}
	}
	return now
}

// visit adds a record and reports whether it takes effect. One that would halt the partition is
// left out.
func (p *planner) visit(now state, v visit) bool {
	changes, ok := p.apply(v, now)
	if !ok && p.does[v.event].halts {
		return false
	}
	p.visits = append(p.visits, v)
	if !ok {
		p.refused++
		return false
	}
	now.set(changes)
	return true
}

// prepared adds a record behind what its event needs.
func (p *planner) prepared(now state, v visit) bool {
	p.prepare(now, v.event)
	return p.visit(now, v)
}

// allowed reports whether the event's key is still unused on this row.
func (p *planner) allowed(e *model.Event, now state) bool {
	space := p.does[e].keySpace
	return space < 0 || !now[space]
}

// prepare makes what the first event needs. The key spaces of the events stay unused.
func (p *planner) prepare(now state, events ...*model.Event) {
	d := p.does[events[0]]
	for _, t := range slices.Concat(d.needs, d.prefers) {
		p.ensure(now, t, events...)
	}
}

// ensure makes a row of the table if there is none and some event can, and leaves the key
// spaces of the events unused.
func (p *planner) ensure(now state, table int, events ...*model.Event) {
	p.making(now, table, events, map[int]bool{})
}

// mostMakers is how many of the events that make a table's row are tried.
const mostMakers = 16

func (p *planner) making(now state, table int, reserved []*model.Event, busy map[int]bool) {
	if now[table] || busy[table] {
		return
	}
	busy[table] = true
	for _, e := range p.makers[table][:min(mostMakers, len(p.makers[table]))] {
		d := p.does[e]
		if !p.allowed(e, now) || d.keySpace >= 0 && slices.Contains(reserved, e) {
			continue
		}
		for _, t := range d.needs {
			p.making(now, t, reserved, busy)
		}
		if _, ok := p.apply(visit{event: e}, now); ok {
			p.visit(now, visit{event: e})
			return
		}
	}
}
