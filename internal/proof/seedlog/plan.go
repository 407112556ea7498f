package seedlog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// visit is one record to be: an event on a row.
type visit struct {
	event   *model.Event
	row     int  // of the row: what names the row is made of it
	number  int  // of the record, among all: its other values are made of it
	version int  // relation to the version that the row was given last
	again   bool // with the own row of the record before
	bare    bool // with empty lists
	shape   int  // from 1: which optional values are there; 0 = the number decides

}

const (
	newer = iota
	equal
	older
)

// planner decides which records the log has. It goes from event to event, and for each from row
// to row. What it plans for an event depends on that event, on those before it in the spec, and on
// those that make the rows that it needs.
type planner struct {
	roles    *roles
	events   []*model.Event
	tables   []*model.Table
	index    map[*model.Table]int // into tables and state
	does     map[*model.Event]*effect
	bars     [][]int          // by table: children that keep a row from being deleted
	makers   [][]*model.Event // by table
	wanted   map[pair]int     // on how many rows a pair must meet
	partners map[*model.Event][]*model.Event
	numbers  numbers
	visits   []visit // of the row that is being planned
	refused  int     // records that the planner expects to be refused
	work     int     // how often it was asked whether an event would take effect
}

func newPlanner(r *roles, t *model.Topic) *planner {
	p := &planner{
		roles: r, events: t.Events, index: map[*model.Table]int{}, does: map[*model.Event]*effect{}, wanted: map[pair]int{},
		partners: map[*model.Event][]*model.Event{}, numbers: numbers{},
	}
	for _, e := range t.Events {
		for _, s := range e.Steps {
			for _, tab := range append(append([]*model.Table{s.Table}, s.Cascades...), p.parents(s)...) {
				if _, known := p.index[tab]; !known {
					p.index[tab] = len(p.tables)
					p.tables = append(p.tables, tab)
				}
			}
		}
	}
	p.findBars()
	for i, e := range t.Events {
		d := p.study(e)
		p.does[e] = d
		if r.usedUp(e) {
			d.keySpace = len(p.tables) + i
		}
	}
	p.findMakers()
	p.findPairs()
	return p
}

// deep is how many records an event may need before it. One that needs more is planned only if it
// is the end of such a chain, and then it meets nobody: else the log would grow with the square of
// the chain.
const deep = 24

// section returns the records that are there because of one event.
func (p *planner) section(e *model.Event) (log []visit) {
	far := p.does[e].cost > deep && p.does[e].cost < endless
	if far && p.leadsOn(e) {
		return nil
	}
	refused := p.refused
	add := func(name string, play func(now state)) { log = append(log, p.onRow(e.GoName+" "+name, 0, play)...) }
	p.alone(e, add)
	p.special(e, add)
	if !far {
		for _, other := range p.partners[e] {
			p.meet(other, e, add)
		}
	}
	for n := 0; (p.refused-refused)*4 > len(log); n++ {
		filler, ok := p.filler(e)
		if !ok {
			break
		}
		add(fmt.Sprintf("more %d", n), func(now state) { p.prepared(now, visit{event: filler}) })
	}
	return log
}

// leadsOn reports whether another event needs rows that this one makes.
func (p *planner) leadsOn(e *model.Event) bool {
	return slices.ContainsFunc(p.events, func(o *model.Event) bool {
		return o != e && slices.ContainsFunc(p.does[o].needs, func(t int) bool { return slices.Contains(p.does[e].makes, t) })
	})
}

// filler is an event that takes effect on a row of its own: the section's, or else the first.
func (p *planner) filler(of *model.Event) (*model.Event, bool) {
	for _, e := range append([]*model.Event{of}, p.events...) {
		if p.does[e].cost >= endless || p.does[e].cost > deep {
			continue
		}
		visits, refused := p.visits, p.refused
		ok := p.prepared(p.first(), visit{event: e})
		p.visits, p.refused = visits, refused
		if ok {
			return e, true
		}
	}
	return nil, false
}

// onRow plans the records of a row that no other record touches. The numbers of the row and its
// records are made of the row's name, so that they do not depend on what else the log holds. Spare
// numbers are for records that are added behind.
func (p *planner) onRow(name string, spare int, play func(now state)) []visit {
	p.visits = nil
	play(p.first())
	visits := p.visits
	if len(visits) == 0 {
		return nil
	}
	from := p.numbers.take(name, len(visits)+spare)
	for i := range visits {
		visits[i].row, visits[i].number = from, from+i
	}
	return visits
}

// rowsPerPair is on how many rows two events meet that speak for their kinds.
const rowsPerPair = 2

// alone plans rows that only this event is about: it shows what the event can look like, and the
// event behind itself. What the last record of a row leaves stays in the table.
func (p *planner) alone(e *model.Event, add func(string, func(state))) {
	shapes := 0
	if slices.ContainsFunc(e.Fields, func(f *model.Field) bool { return varied(f, 0) }) {
		shapes = 3
	}
	for n := range max(rowsPerPair, shapes) {
		add(fmt.Sprintf("alone %d", n), func(now state) {
			v := visit{event: e}
			if shapes > 0 {
				v.shape = n + 1
			}
			p.prepared(now, v)
			if n < p.wanted[pair{e, e}] && p.allowed(e, now) {
				p.visit(now, v)
			}
		})
	}
}

// meet plans rows on which two events stand next to each other, in both orders. They take turns in
// being the first one of a row.
func (p *planner) meet(a, b *model.Event, add func(string, func(state))) {
	rows := max(p.wanted[pair{a, b}], p.wanted[pair{b, a}])
	met := map[pair]int{}
	for n := 0; n < 2*rows && (met[pair{a, b}] < rows || met[pair{b, a}] < rows); n++ {
		first, second := a, b
		if n%2 == 1 {
			first, second = b, a
		}
		add(fmt.Sprintf("with %s %d", a.GoName, n), func(now state) {
			p.provide(now, first, second)
			p.prepare(now, first, second)
			last := (*model.Event)(nil)
			for _, e := range []*model.Event{first, second, first} {
				had := len(p.visits)
				if p.allowed(e, now) {
					p.visit(now, visit{event: e})
				}
				if len(p.visits) == had {
					return
				}
				met[pair{last, e}]++
				last = e
			}
		})
	}
}

// provide makes what the second event needs and the first does not make, unless that would keep
// the first from taking effect.
func (p *planner) provide(now state, first, second *model.Event) {
	with := maps.Clone(now)
	var lacks []int
	for _, t := range p.does[second].needs {
		if !slices.Contains(p.does[first].makes, t) {
			lacks = append(lacks, t)
			with[t] = true
		}
	}
	for _, t := range p.does[first].needs {
		with[t] = true
	}
	if _, ok := p.apply(visit{event: first}, with); !ok {
		return
	}
	for _, t := range lacks {
		p.ensure(now, t, first, second)
	}
}
