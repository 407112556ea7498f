package engine

import "time"

const (
	mostQuiet   = 10 * time.Minute
	alarmFences = 3 // foreign fences in an hour
)

// rivals counts the foreign fences that ended a memory, one after another without longer progress
// in between.
type rivals int

// quiet returns how long the tail must stay the same before its owner is considered gone: twice
// the time that a transaction may take, so a working owner would have moved it; doubled after each
// foreign fence.
func (n rivals) quiet(s *Process) time.Duration {
	d := 2 * s.Service.Limits.BatchTimeout
	for range n - 1 {
		d = min(2*d, mostQuiet)
	}
	return d
}

// fenced counts a fence by another owner, which ended this owner. If that happens again and again,
// it is not an accident: two deployments use the same consumer name.
func (n *rivals) fenced(s *Process, l *life) {
	if l.forward.Sub(l.began) > n.quiet(s) {
		*n = 0
	}
	*n++
	s.Counters.ForeignFences.Add(1)
	if n := s.fences.Count(time.Now()); n == alarmFences {
		s.Log.Error("other owners keep taking over partitions: does another deployment use the consumer's name?",
			"consumer", s.Service.Consumer, "times_in_an_hour", n)
	}
}
