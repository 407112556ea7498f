package strictjson

// Choice is a value that stands in one of several members: the first of them that is there counts.
// Its zero value is ready for use.
type Choice struct {
	rank     int // of the member that counts so far; 0 = none was met
	pos, end int
	taken    bool
}

// Offer passes over the value of a member that a choice may take, checking its syntax. The lowest
// rank counts; ranks begin at 1.
func Offer(s *Scanner, c *Choice, rank int) {
	if s.Failure() != nil {
		return
	}
	s.peek()
	start := s.pos
	skip(s)
	if s.Failure() != nil {
		s.Failure().Path = s.pathTo(start, true, "")
		return
	}
	if c.rank == 0 || rank < c.rank {
		c.rank, c.pos = rank, start
	}
}

// Take goes back to the value that counts, and returns true once, for the caller to read it; the
// second time it goes on where the first one was called. If no member was met it fails, unless
// missing, the name of the value, is "".
func Take(s *Scanner, c *Choice, missing string) bool {
	switch {
	case s.Failure() != nil:
		return false
	case c.taken:
		s.pos = c.end
		return false
	case c.rank == 0:
		if missing != "" {
			s.failMissing(missing)
		}
		return false
	}
	c.taken, c.end = true, s.pos
	s.pos = c.pos
	return true
}
