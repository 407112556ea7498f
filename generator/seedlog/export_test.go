package seedlog

import "github.com/idemgen/idemgen/generator/model"

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

// Branches are how often the planner expects each step, by its Go name, to be applied and to be
// skipped.
func Branches(s *model.Service, t *model.Topic) map[string][2]int {
	p := newPlanner(rolesOf(s, t), t)
	count := map[string][2]int{}
	for _, v := range p.plan() {
		for i, ran := range v.ran {
			n := count[v.event.Steps[i].GoName]
			if n[0]++; !ran {
				n[0]--
				n[1]++
			}
			count[v.event.Steps[i].GoName] = n
		}
	}
	return count
}
