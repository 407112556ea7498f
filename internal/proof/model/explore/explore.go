// Package explore visits all states of a small state machine, breadth first, until one of them
// breaks a promise. It must not import any other package of this module.
package explore

import "slices"

// Step is what can happen next in a state.
type Step[S comparable] struct {
	Name      string
	Fault     bool // it may never happen
	After     S
	Violation string // the promise that it breaks; "" is none
}

// Exploration is what is known about all states.
type Exploration struct {
	States    int
	Violation string
	Trace     []string // the shortest way to the violation
}

// Run visits every state from start on. It is a violation, called trapped, if a state is reached
// from which no way without faults leads to one that is over.
func Run[S comparable](start S, steps func(*S) []Step[S], over func(*S) bool, trapped string) Exploration {
	e := explorer[S]{number: map[S]int{}}
	e.enter(start, -1, "")
	for at := 0; at < len(e.states); at++ {
		for _, x := range steps(&e.states[at]) {
			if x.Violation != "" {
				return Exploration{len(e.states), x.Violation, append(e.trace(at), x.Name)}
			}
			n := e.enter(x.After, at, x.Name)
			if !x.Fault {
				e.before[n] = append(e.before[n], at)
			}
		}
	}
	if at := e.trapped(over); at >= 0 {
		return Exploration{len(e.states), trapped, e.trace(at)}
	}
	return Exploration{States: len(e.states)}
}

type explorer[S comparable] struct {
	states []S
	number map[S]int
	parent []int
	name   []string
	before [][]int // states from which a step that is no fault leads here
}

func (e *explorer[S]) enter(s S, parent int, name string) int {
	n, known := e.number[s]
	if !known {
		n = len(e.states)
		e.number[s] = n
		e.states, e.parent, e.name = append(e.states, s), append(e.parent, parent), append(e.name, name)
		e.before = append(e.before, nil)
	}
	return n
}

func (e *explorer[S]) trace(at int) (names []string) {
	for ; e.parent[at] >= 0; at = e.parent[at] {
		names = append(names, e.name[at])
	}
	slices.Reverse(names)
	return names
}

// trapped is the first state from which no way leads to one that is over; -1 is none.
func (e *explorer[S]) trapped(over func(*S) bool) int {
	free := make([]bool, len(e.states))
	var next []int
	for n := range e.states {
		if over(&e.states[n]) {
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
