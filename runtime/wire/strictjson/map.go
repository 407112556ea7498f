package strictjson

// Map reads an object whose member names are data: each value by read, a method of s or a
// function that calls some. It empties and fills into, or a map of its own if that is nil. Names
// are texts as values are: one that Postgres cannot store is refused, and one that is there twice.
//
// An error inside is told of the map as a whole, because the names are the producer's.
func Map[T any](s *Scanner, into map[string]T, read func() T) map[string]T {
	if into == nil {
		into = map[string]T{}
	}
	clear(into)
	s.peek()
	start, failed := s.pos, s.Failure() != nil
	s.Object()
	for at := s.pos; s.Member(); at = s.pos {
		if !s.flawless(at) {
			break
		}
		name := s.name
		if _, there := into[name]; there {
			s.fail("holds a name twice")
			break
		}
		into[name] = read()
	}
	if s.Failure() != nil && !failed {
		s.Failure().Path = s.pathTo(start, true, "")
	}
	return into
}
