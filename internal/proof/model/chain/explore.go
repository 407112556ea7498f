package chain

import (
	"slices"

	"github.com/idemgen/idemgen/internal/protocol"
)

// Bound says what an exploration covers.
type Bound struct {
	Name   string
	Left   Faults
	Poison []uint8 // messages, one at a time, that the database refuses; Messages = none
	Young  bool    // there is no stream yet: workers race for its genesis
}

// roots are the states that a bound starts from: one worker is assigned.
func (b *Bound) roots() (all []State) {
	for _, p := range b.Poison {
		s := State{Poison: p, Left: b.Left}
		if !b.Young {
			s.Stream, s.N, s.Rows[0] = true, 1, Row{Kind: Genesis, Token: s.name()}
		}
		s.Workers[0].State = protocol.Fencing
		all = append(all, s)
	}
	return all
}

// Violation is an invariant that does not hold, and the shortest way to see it.
type Violation struct {
	What  string
	Trace []Step
}

// Exploration is what is known about all states within a bound.
type Exploration struct {
	rules  *Rules
	states []packed
	number map[packed]uint32
	parent []uint32 // by state: the one it was reached from first; a root's is itself
	// calm is, by state, the state that follows if nothing goes wrong any more, in one fair
	// order of steps; or one of the constants below.
	calm []uint32

	Transitions int
	Violations  []Violation // the first first, at most one per kind of violation
	Count       int         // of violations
}

const (
	finished uint32 = 1<<32 - 1 - iota // the last message is passed
	off                                // no worker is assigned
	trapped                            // no step is left
)

// States is how many there are.
func (e *Exploration) States() int { return len(e.states) }

// Explore visits every state within a bound, breadth first. With first it stops at the
// first violation.
func Explore(r *Rules, b Bound, first bool) *Exploration {
	e := &Exploration{rules: r, number: map[packed]uint32{}}
	for _, s := range b.roots() {
		e.enter(&s, uint32(len(e.states)))
	}
	var steps []Step
	for at := 0; at < len(e.states); at++ {
		s := unpack(e.states[at])
		steps = r.Steps(&s, steps)
		e.calm = append(e.calm, e.follow(at, &s, steps))
		if first && e.Count > 0 {
			return e
		}
	}
	e.liveness()
	return e
}

func (e *Exploration) enter(s *State, parent uint32) uint32 {
	p := pack(s)
	n, known := e.number[p]
	if !known {
		n = uint32(len(e.states))
		e.number[p] = n
		e.states = append(e.states, p)
		e.parent = append(e.parent, parent)
	}
	return n
}

// follow enters the states that follow and returns which of them comes if all is calm.
func (e *Exploration) follow(at int, s *State, steps []Step) uint32 {
	calm := trapped
	switch {
	case s.Position() == Messages:
		calm = finished
	case s.Workers[0].State == protocol.Off && s.Workers[1].State == protocol.Off:
		calm = off
	}
	for i := range steps {
		x := &steps[i]
		e.Transitions++
		if x.Violation != "" {
			e.violation(x.Violation, at, x)
			continue
		}
		n := e.enter(&x.After, uint32(at))
		if calm == trapped && !x.Fault {
			calm = n
		}
	}
	return calm
}

func (e *Exploration) violation(what string, at int, last *Step) {
	e.Count++
	if slices.ContainsFunc(e.Violations, func(v Violation) bool { return v.What == what }) {
		return
	}
	trace := e.trace(uint32(at))
	if last != nil {
		trace = append(trace, *last)
	}
	e.Violations = append(e.Violations, Violation{what, trace})
}

// trace is the shortest sequence of steps from a root to a state.
func (e *Exploration) trace(n uint32) (steps []Step) {
	for ; e.parent[n] != n; n = e.parent[n] {
		s := unpack(e.states[e.parent[n]])
		for _, x := range e.rules.Steps(&s, nil) {
			if x.Violation == "" && pack(&x.After) == e.states[n] {
				steps = append(steps, x)
				break
			}
		}
	}
	slices.Reverse(steps)
	return steps
}

// liveness finds states from which an assigned worker does not finish although nothing goes
// wrong any more (planted bug 16): traps, and circles.
func (e *Exploration) liveness() {
	const unknown, walking, good, bad = 0, 1, 2, 3
	verdict := make([]uint8, len(e.states))
	var path []uint32
	for n := range e.states {
		path = path[:0]
		at, v := uint32(n), uint8(unknown)
		for v == unknown {
			switch {
			case verdict[at] == walking:
				v = bad
			case verdict[at] != unknown:
				v = verdict[at]
			case e.calm[at] == finished || e.calm[at] == off:
				verdict[at], v = good, good
			case e.calm[at] == trapped:
				verdict[at], v = bad, bad
			default:
				verdict[at] = walking
				path = append(path, at)
				at = e.calm[at]
			}
		}
		for _, p := range path {
			verdict[p] = v
		}
		if verdict[n] == bad {
			e.violation("liveness: without further faults no worker finishes", n, nil)
		}
	}
}
