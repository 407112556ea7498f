package seedlog

import (
	"maps"
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

	like *model.Event // of the record before, whose key this one has; nil = a key of its own
}

const (
	newer = iota
	equal
	older
)

type pair struct{ a, b *model.Event }

// planner orders events. It goes from row identity to row identity. On each it makes what
// the next wanted pair needs, and goes on from there as long as it can.
type planner struct {
	roles    *roles
	events   []*model.Event
	tables   []*model.Table
	bit      map[*model.Table]int // index into state
	does     map[*model.Event]*deed
	bars     [][]int          // by table: children that keep a row from being deleted
	makers   [][]*model.Event // by table
	wanted   map[pair]int     // how many more rows the pair must meet on
	open     map[*model.Event][]*model.Event
	meetings int          // how many there are to be, in all
	tried    map[pair]int // how often a row was begun for the pair
	visits   []visit
	occurs   map[*model.Event]int
	met      map[pair]bool // on this row
	refused  int
	row      int // the next row that no record has touched
	work     int // how often it was asked whether an event would take effect
}

func newPlanner(r *roles, t *model.Topic) *planner {
	p := &planner{
		roles: r, events: t.Events, bit: map[*model.Table]int{}, does: map[*model.Event]*deed{}, wanted: map[pair]int{},
		open: map[*model.Event][]*model.Event{}, tried: map[pair]int{}, occurs: map[*model.Event]int{}, row: 1,
	}
	for _, e := range t.Events {
		for _, s := range e.Steps {
			for _, tab := range append(append([]*model.Table{s.Table}, s.Cascades...), p.parents(s)...) {
				if _, known := p.bit[tab]; !known {
					p.bit[tab] = len(p.tables)
					p.tables = append(p.tables, tab)
				}
			}
		}
	}
	p.barring()
	spaces := map[[16]byte]int{}
	for _, e := range t.Events {
		d := p.study(e)
		p.does[e] = d
		if r.usedUp(e) {
			if _, known := spaces[e.Key.Space]; !known {
				spaces[e.Key.Space] = len(p.tables) + len(spaces)
			}
			d.once = spaces[e.Key.Space]
		}
	}
	p.findMakers()
	p.want()
	return p
}

// Records that only prepare a row are at most so many: a topic in which each row needs a
// long chain of parents must do with fewer rows.
func (p *planner) most() int { return 2*p.meetings + 6*len(p.events) + 100 }

// plan returns the whole log.
func (p *planner) plan() []visit {
	p.special()
	p.walks()
	p.empty()
	for _, e := range p.events { // what happens only once per row
		for range 2 - p.occurs[e] {
			at := p.lead(p.fresh(), e)
			p.visit(at, visit{event: e, row: at.row})
		}
	}
	for n := range p.shapes() {
		p.live(p.lifetime(), n+1)
	}
	life := p.lifetime()
	for p.refused*4 > len(p.visits) && len(life) > 0 {
		p.live(life, 0)
	}
	return p.visits
}

// walks meets the wanted pairs, row by row.
func (p *planner) walks() {
	hopeless := []pair{}
	for _, a := range p.events {
		for len(p.open[a]) > 0 {
			two := pair{a, p.open[a][0]}
			if p.tried[two] == patience || len(p.visits) > p.most() {
				p.give(two)
				hopeless = append(hopeless, two)
				continue
			}
			p.tried[two]++
			p.walk(two)
		}
	}
	p.march(hopeless)
}

// patience is how many rows are begun for a pair: one with all that the second event needs,
// if that keeps the first one from taking effect, one without, and the same on further rows.
const patience = 2 * rowsPerPair

// walk meets the pair on a fresh row, and then as many as it can.
func (p *planner) walk(two pair) {
	at := p.fresh()
	if p.tried[two]%2 == 1 {
		makes := p.does[two.a].makes
		for _, t := range p.does[two.b].needs {
			if !slices.Contains(makes, t) {
				at = p.ensure(at, t, two.a, two.b)
			}
		}
	}
	at = p.lead(at, two.a, two.b)
	if at = p.visit(at, visit{event: two.a, row: at.row}); at.last == nil {
		return
	}
	if p.wants(two) && p.allowed(two.b, at.state) {
		at = p.visit(at, visit{event: two.b, row: at.row})
	}
	for on := p.next(at); on != nil; on = p.next(at) {
		for _, e := range on {
			at = p.visit(at, visit{event: e, row: at.row})
		}
	}
}

func (p *planner) wants(two pair) bool { return p.wanted[two] > 0 && !p.met[two] }

// sight is how many of the events that could come next are looked at.
const sight = 16

// next is an event that makes a wanted pair with the last one, or two events that are one;
// nil if there is none in sight.
func (p *planner) next(at position) []*model.Event {
	if e := p.second(at.last, at.state); e != nil {
		return []*model.Event{e}
	}
	looked := 0
	for _, a := range p.events {
		if len(p.open[a]) == 0 || !p.allowed(a, at.state) {
			continue
		}
		if looked++; looked > sight {
			return nil
		}
		changes, ok := p.apply(a, at.state)
		if !ok {
			continue
		}
		after := maps.Clone(at.state)
		after.set(changes)
		if b := p.second(a, after); b != nil {
			return []*model.Event{a, b}
		}
	}
	return nil
}

// second is an event that is wanted behind a. It takes effect, or is refused for another
// reason than what is not there yet.
func (p *planner) second(a *model.Event, now state) *model.Event {
	if a == nil {
		return nil
	}
	for _, b := range p.open[a][:min(sight, len(p.open[a]))] {
		if !p.wants(pair{a, b}) || !p.allowed(b, now) {
			continue
		}
		_, ok := p.apply(b, now)
		lacks := slices.ContainsFunc(p.does[b].needs, func(t int) bool { return !now[t] })
		if ok || !lacks && !p.does[b].halts {
			return b
		}
	}
	return nil
}

// march meets the pairs that cannot be had with a first event that takes effect, whatever
// becomes of them.
func (p *planner) march(pairs []pair) {
	at := p.fresh()
	var last *model.Event
	for n := range rowsPerPair {
		for _, two := range pairs {
			if p.does[two.a].halts || p.does[two.b].halts || p.wanted[two] <= n || len(p.visits) > 2*p.most() {
				continue
			}
			if !p.allowed(two.a, at.state) || !p.allowed(two.b, at.state) {
				at, last = p.fresh(), nil
			}
			if last != two.a {
				at = p.visit(at, visit{event: two.a, row: at.row})
			}
			at = p.visit(at, visit{event: two.b, row: at.row})
			last = two.b
		}
		at, last = p.fresh(), nil
	}
}
