package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// visit is one record to be: an event for a row identity.
type visit struct {
	event   *model.Event
	row     int  // row identity, from 1
	version int  // relation to the version that the row was given last
	again   bool // with the own row of the record before
	bare    bool // with empty lists
	shape   int  // from 1: which shape of the record is wanted; 0 = the event's next one
}

const (
	newer = iota
	equal
	older
)

type pair struct{ a, b *model.Event }

// planner finds a short order of events. It walks from row identity to row identity; on
// each it looks for the shortest way to the next pair that is still wanted.
type planner struct {
	roles   *roles
	events  []*model.Event
	bit     map[*model.Table]int // index into state
	once    map[*model.Event]int // events whose key is used up after one record of a row: index into state
	empty   state
	wanted  map[pair]int // how many more rows the pair must meet on
	visits  []visit
	refused int
	row     int // the next row that no record has touched
}

const rowsPerPair = 2

func newPlanner(r *roles, t *model.Topic) *planner {
	p := &planner{roles: r, events: t.Events, bit: map[*model.Table]int{}, once: map[*model.Event]int{}, wanted: map[pair]int{}}
	size := 0
	for _, e := range t.Events {
		for _, s := range e.Steps {
			for _, tab := range append(append([]*model.Table{s.Table}, s.Cascades...), p.parents(s)...) {
				if _, known := p.bit[tab]; !known {
					p.bit[tab] = size
					size++
				}
			}
		}
	}
	spaces := map[[16]byte]int{}
	for _, e := range t.Events {
		if r.usedUp(e) {
			if _, known := spaces[e.Key.Space]; !known {
				spaces[e.Key.Space] = size
				size++
			}
			p.once[e] = spaces[e.Key.Space]
		}
	}
	p.empty = state(make([]byte, size))
	for _, a := range t.Events {
		for _, b := range t.Events {
			spaceA, onceA := p.once[a]
			spaceB, onceB := p.once[b]
			copies := onceA && onceB && spaceA == spaceB
			if (a == b || p.related(a, b)) && !copies {
				p.wanted[pair{a, b}] = rowsPerPair
			}
		}
	}
	return p
}

// plan returns the whole log.
func (p *planner) plan() []visit {
	row := 1
	for ; p.walk(row); row++ {
	}
	for ; p.march(row); row++ {
	}
	for _, e := range p.events { // what happens only once per row
		for ; p.count(e) < 2; row++ {
			at := position{state: p.empty}
			for _, step := range p.wayTo(e) {
				at = p.visit(at, visit{event: step, row: row})
			}
		}
	}
	for n := range p.shapes() {
		p.life(row, n+1)
		row++
	}
	for ; p.refused*4 > len(p.visits) && p.life(row, 0); row++ {
	}
	p.row = row
	return p.visits
}

func (p *planner) count(e *model.Event) (n int) {
	for _, v := range p.visits {
		if v.event == e {
			n++
		}
	}
	return n
}

// wayTo is the shortest path on a fresh row that ends with the event taking effect, or
// the event alone if there is none.
func (p *planner) wayTo(e *model.Event) []*model.Event {
	path := p.search(position{state: p.empty}, func(from position, last *model.Event) bool {
		_, ok := p.apply(e, from.state)
		return last == e && ok
	})
	if path == nil {
		return []*model.Event{e}
	}
	return path
}

// walk meets as many wanted pairs as it can on one row. It returns false if there was none.
func (p *planner) walk(row int) bool {
	at := position{state: p.empty}
	met := map[pair]bool{}
	for {
		path := p.search(at, func(from position, e *model.Event) bool {
			two := pair{from.last, e}
			return from.last != nil && !met[two] && p.wanted[two] > 0
		})
		if path == nil {
			break
		}
		for _, e := range path {
			at = p.visit(at, visit{event: e, row: row})
		}
		two := pair{p.visits[len(p.visits)-2].event, path[len(path)-1]}
		met[two] = true
		p.wanted[two]--
	}
	if len(met) == 0 {
		return false
	}
	p.extras(at, row)
	return true
}

// march meets on one row the pairs that cannot be had with a first event that takes
// effect, whatever becomes of them. It returns false if there was none.
func (p *planner) march(row int) bool {
	at := position{state: p.empty}
	var last *model.Event
	met := map[pair]bool{}
	open := func(a, b *model.Event) bool { return a != nil && p.wanted[pair{a, b}] > 0 && !met[pair{a, b}] }
	for {
		next := p.pick(func(e *model.Event) bool { return open(last, e) })
		if next != nil {
			met[pair{last, next}] = true
			p.wanted[pair{last, next}]--
		} else if next = p.pick(func(a *model.Event) bool { return p.pick(func(b *model.Event) bool { return open(a, b) }) != nil }); next == nil {
			return len(met) > 0
		}
		at = p.visit(at, visit{event: next, row: row})
		last = next
	}
}

func (p *planner) pick(fits func(*model.Event) bool) *model.Event {
	if i := slices.IndexFunc(p.events, fits); i >= 0 {
		return p.events[i]
	}
	return nil
}

// position is where a walk stands; last is nil if the last event was refused.
type position struct {
	state state
	last  *model.Event
}

func (p *planner) visit(at position, v visit) position {
	p.visits = append(p.visits, v)
	after, ok := p.apply(v.event, at.state)
	if !ok {
		p.refused++
		return position{state: at.state}
	}
	return position{after, v.event}
}

// allowed reports whether the event's key is still unused on this row.
func (p *planner) allowed(e *model.Event, s state) bool {
	space, once := p.once[e]
	return !once || !s.has(space)
}

// search finds the shortest path of events that apply whose end is wanted; the last event
// itself may be refused.
func (p *planner) search(from position, wanted func(position, *model.Event) bool) []*model.Event {
	const most = 20000 // positions looked at
	type step struct {
		at   position
		path []*model.Event
	}
	queue := []step{{at: from}}
	seen := map[position]bool{from: true}
	for len(queue) > 0 && len(seen) < most {
		s := queue[0]
		queue = queue[1:]
		for _, e := range p.events {
			if !p.allowed(e, s.at.state) {
				continue
			}
			path := append(slices.Clone(s.path), e)
			if wanted(s.at, e) {
				return path
			}
			after, ok := p.apply(e, s.at.state)
			if next := (position{after, e}); ok && !seen[next] {
				seen[next] = true
				queue = append(queue, step{next, path})
			}
		}
	}
	return nil
}
