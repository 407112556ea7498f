package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// Way returns a short log that ends with a record of the event, behind what its row needs, and the
// rows that must be there before. For an event with Go code, which may want any row of its topic,
// there is one of each table that the topic's events can make. Rows and records are numbered
// from 1.
func Way(s *model.Service, e *model.Event) ([]model.Row, []Record) {
	r := rolesOf(s, e.Topic)
	p := newPlanner(r, e.Topic)
	w := &writer{positions: positions{}, seconds: map[int]bool{}, roles: r, topic: e.Topic, last: map[int]int{}}
	now := p.first()
	if e.HasCode() {
		wanted := slices.Clone(p.does[e].needs)
		for t := range p.tables {
			if !slices.Contains(p.does[e].makes, t) && !slices.Contains(wanted, t) {
				wanted = append(wanted, t)
			}
		}
		for _, t := range wanted {
			p.ensure(now, t, e)
		}
	}
	if !p.prepared(now, visit{event: e}) && (len(p.visits) == 0 || p.visits[len(p.visits)-1].event != e) {
		p.visits = append(p.visits, visit{event: e})
	}
	for i := range p.visits {
		p.visits[i].row, p.visits[i].number = 1, i+1
	}
	log := w.records(p.visits)
	return w.rowsBefore(s), log
}
