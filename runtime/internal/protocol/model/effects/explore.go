package effects

import "slices"

// Exploration is what is known about all states within a bound.
type Exploration struct {
	States    int
	Violation string
	Trace     []string // the shortest way to the violation
}

// Explore visits every state, breadth first, until something is violated.
func Explore(r *Rules, left Faults) Exploration {
	e := explorer{rules: r, number: map[State]int{}}
	e.enter(State{Left: left}, -1, "")
	for at := 0; at < len(e.states); at++ {
		for _, x := range r.steps(&e.states[at]) {
			if x.Violation != "" {
				return Exploration{len(e.states), x.Violation, append(e.trace(at), x.Name)}
			}
			n := e.enter(x.After, at, x.Name)
			if !x.Fault {
				e.before[n] = append(e.before[n], at)
			}
		}
	}
	if at := e.trapped(); at >= 0 {
		return Exploration{len(e.states), "without further faults the records are never passed", e.trace(at)}
	}
	return Exploration{States: len(e.states)}
}

type explorer struct {
	rules  *Rules
	states []State
	number map[State]int
	parent []int
	name   []string
	before [][]int // states from which a step that is no fault leads here
}

func (e *explorer) enter(s State, parent int, name string) int {
	n, known := e.number[s]
	if !known {
		n = len(e.states)
		e.number[s] = n
		e.states, e.parent, e.name = append(e.states, s), append(e.parent, parent), append(e.name, name)
		e.before = append(e.before, nil)
	}
	return n
}

func (e *explorer) trace(at int) (names []string) {
	for ; e.parent[at] >= 0; at = e.parent[at] {
		names = append(names, e.name[at])
	}
	slices.Reverse(names)
	return names
}

// trapped is the first state from which no way leads to the end; -1 is none.
func (e *explorer) trapped() int {
	free := make([]bool, len(e.states))
	var next []int
	for n := range e.states {
		r := e.states[n].Records
		if r[0].How != Waiting && (r[1].How != Waiting || !e.rules.Copies) {
			free[n], next = true, append(next, n)
		}
	}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, b := range e.before[at] {
			if !free[b] {
				free[b], next = true, append(next, b)
			}
		}
	}
	return slices.Index(free, false)
}
