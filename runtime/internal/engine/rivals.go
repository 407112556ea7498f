package engine

import "time"

const (
	mostQuiet   = 10 * time.Minute
	alarmFences = 3 // foreign fences in an hour
)

// rivals counts foreign fences that ended a memory, without progress for a while between them.
type rivals int

// quiet is how long the tail must not move before its owner counts as gone: twice what
// a transaction may take, so that an owner at work has moved it, doubled after each fence
// of another.
func (n rivals) quiet(s *Process) time.Duration {
	d := 2 * s.Service.Limits.BatchTimeout
	for range n - 1 {
		d = min(2*d, mostQuiet)
	}
	return d
}

// fenced counts that another owner fenced this one, whose life ends with that. It is no
// accident when it happens again and again: two deployments have one consumer name.
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
