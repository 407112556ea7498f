package effects

import "github.com/idemgen/idemgen/internal/proof/model/explore"

// Explore visits every state within a bound, until something is violated.
func Explore(r *Rules, left Faults) explore.Exploration {
	return explore.Run(State{Left: left}, r.steps, r.over, "without further faults the records are never passed")
}

// over reports whether all records were passed.
func (r *Rules) over(s *State) bool {
	for n := range s.Records {
		if r.exists(s, n) && s.there(n) && s.Records[n].open() {
			return false
		}
	}
	return true
}
