package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// kind is how an event uses rows of a table. Statements and waves of two events of one
// kind differ in names and columns only.
type kind struct {
	verb    string // of the step; "" if the row is used as parent or child of another
	each    bool   // a row per element of a list
	whole   bool   // the step does not name its rows by the primary key
	newer   bool   // only newer ones
	skip    bool   // what is there, or is not there, is skipped
	cascade bool   // the rows go with their parent
}

// writes is false for a row that is only named as a parent.
func (k kind) writes() bool { return k.verb != "" || k.cascade }

// use is how one event uses the rows of one table that other records use too.
type use struct {
	table int
	kind  kind
}

func kindOf(s *model.Step) kind {
	return kind{
		verb: s.Verb, each: s.Each != nil, whole: s.Whole, newer: s.If.Newer != nil,
		skip: s.If.Exists == "skip" || s.If.Missing == "skip",
	}
}

// uses returns the different uses of an event, in the order of its steps.
func (p *planner) uses(e *model.Event) (out []use) {
	add := func(t *model.Table, k kind) {
		if found := (use{p.index[t], k}); !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	for _, s := range e.Steps {
		if !p.ownRow(s) {
			add(s.Table, kindOf(s))
		}
		for _, t := range s.Cascades {
			add(t, kind{cascade: true})
		}
		for _, t := range p.parents(s) {
			add(t, kind{})
		}
	}
	return out
}

// mostSpeakers is how many events of one kind meet every kind of their table.
const mostSpeakers = 3

type pair struct{ a, b *model.Event }

// group is the events that use a table in one way, in spec order.
type group struct {
	kind   kind
	events []*model.Event
}

// findPairs finds the pairs of events that the log must have next to each other. Per table every
// kind of use meets every kind, in both orders, and is spoken for by its first events; each
// further event meets the first one of its own kind. So the number of pairs grows with the
// number of uses, and not with its square.
func (p *planner) findPairs() {
	groups := make([][]group, len(p.index)) // by table
	place := map[*model.Event]int{}
	for i, e := range p.events {
		place[e] = i
		p.want(e, e, 1)
		for _, u := range p.does[e].uses {
			at := slices.IndexFunc(groups[u.table], func(g group) bool { return g.kind == u.kind })
			if at < 0 {
				at = len(groups[u.table])
				groups[u.table] = append(groups[u.table], group{kind: u.kind})
			}
			groups[u.table][at].events = append(groups[u.table][at].events, e)
		}
	}
	for _, kinds := range groups {
		writes := slices.IndexFunc(kinds, func(g group) bool { return g.kind.writes() })
		if writes < 0 {
			continue // rows that are only named get in nobody's way
		}
		for _, a := range kinds {
			for _, b := range kinds {
				if a.kind.writes() || b.kind.writes() {
					p.wantAll(a.speakers(), b.speakers())
				}
			}
			first := a.events[0]
			if !a.kind.writes() {
				first = kinds[writes].events[0]
			}
			for _, e := range a.events[len(a.speakers()):] {
				p.want(first, e, 1)
			}
		}
	}
	for two := range p.wanted {
		switch a, b := two.a, two.b; {
		case place[a] < place[b]:
			p.partners[b] = append(p.partners[b], a)
		case place[a] > place[b]:
			p.partners[a] = append(p.partners[a], b)
		}
	}
	for e, others := range p.partners {
		slices.SortFunc(others, func(a, b *model.Event) int { return place[a] - place[b] })
		p.partners[e] = slices.Compact(others)
	}
}

// speakers are the events that speak for their kind.
func (g group) speakers() []*model.Event { return g.events[:min(mostSpeakers, len(g.events))] }

func (p *planner) wantAll(as, bs []*model.Event) {
	for _, a := range as {
		for _, b := range bs {
			p.want(a, b, rowsPerPair)
		}
		p.want(a, a, rowsPerPair)
	}
}

// want asks for two events next to each other, in both orders, on so many rows. There is one
// record of an event on a row if that uses the key up.
func (p *planner) want(a, b *model.Event, rows int) {
	if a == b && p.does[a].keySpace >= 0 {
		return
	}
	two := pair{a, b}
	p.wanted[two] = max(p.wanted[two], rows)
}
