package seedlog

import "github.com/idemgen/idemgen/internal/gen/model"

// Forecast is how many records of the log the planner expects to be refused.
func Forecast(s *model.Service, t *model.Topic) int {
	p := newPlanner(rolesOf(s, t), t)
	p.plan()
	return p.refused
}

// Work is how often the planner asks whether an event would take effect.
func Work(s *model.Service, t *model.Topic) int {
	p := newPlanner(rolesOf(s, t), t)
	p.plan()
	return p.work
}

// plan returns the records of all sections.
func (p *planner) plan() (log []visit) {
	for _, e := range p.events {
		log = append(log, p.section(e)...)
	}
	return log
}
