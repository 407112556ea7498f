package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// kind is how an event touches rows of a table. Statements and waves of two events of one
// kind differ in names and columns only.
type kind struct {
	verb    string // of the step; "" if the row is touched as parent or child of another
	each    bool   // a row per element of a list
	whole   bool   // the step does not name its rows by the primary key
	newer   bool   // only newer ones
	skip    bool   // what is there, or is not there, is skipped
	cascade bool   // the rows go with their parent
}

// writes is false for a row that is only named as a parent.
func (k kind) writes() bool { return k.verb != "" || k.cascade }

// touch is what one event does to the rows of one table that other records touch too.
type touch struct {
	table int
	kind  kind
}

func kindOf(s *model.Step) kind {
	return kind{
		verb: s.Verb, each: s.Each != nil, whole: s.Whole, newer: s.IfNewer != nil,
		skip: s.IfExists == "skip" || s.IfMissing == "skip",
	}
}

// touches returns the different touches of an event, in the order of its steps.
func (p *planner) touches(e *model.Event) (out []touch) {
	add := func(t *model.Table, k kind) {
		if found := (touch{p.bit[t], k}); !slices.Contains(out, found) {
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

// speakers is how many events of one kind meet every kind of their table.
const speakers = 3

// rowsPerPair is on how many rows two events meet that speak for their kinds.
const rowsPerPair = 2

// group is the events that touch a table in one way, in spec order.
type group struct {
	kind   kind
	events []*model.Event
}

// want finds the pairs of events that the log must have next to each other. Per table every
// kind of touch meets every kind, in both orders, and is spoken for by its first events; each
// further event meets the first one of its own kind. So the number of pairs grows with the
// number of touches, and not with its square.
func (p *planner) want() {
	groups := make([][]group, len(p.bit)) // by table
	for _, e := range p.events {
		p.wantPair(e, e, 1)
		for _, t := range p.does[e].touches {
			at := slices.IndexFunc(groups[t.table], func(g group) bool { return g.kind == t.kind })
			if at < 0 {
				at = len(groups[t.table])
				groups[t.table] = append(groups[t.table], group{kind: t.kind})
			}
			groups[t.table][at].events = append(groups[t.table][at].events, e)
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
					p.wantAll(a.first(), b.first())
				}
			}
			first := a.events[0]
			if !a.kind.writes() {
				first = kinds[writes].events[0]
			}
			for _, e := range a.events[len(a.first()):] {
				p.wantPair(first, e, 1)
				p.wantPair(e, first, 1)
			}
		}
	}
}

func (g group) first() []*model.Event { return g.events[:min(speakers, len(g.events))] }

func (p *planner) wantAll(as, bs []*model.Event) {
	for _, a := range as {
		for _, b := range bs {
			p.wantPair(a, b, rowsPerPair)
			p.wantPair(b, a, rowsPerPair)
		}
		p.wantPair(a, a, rowsPerPair)
	}
}

// wantPair asks for b right behind a, on so many rows. Two events of one key space are one
// event on one row if that uses the key up.
func (p *planner) wantPair(a, b *model.Event, rows int) {
	spaceA, spaceB := p.does[a].once, p.does[b].once
	if spaceA >= 0 && spaceA == spaceB {
		return
	}
	two := pair{a, b}
	if p.wanted[two] == 0 {
		p.open[a] = append(p.open[a], b)
	}
	p.meetings += max(0, rows-p.wanted[two])
	p.wanted[two] = max(p.wanted[two], rows)
}
