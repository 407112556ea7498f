package strictjson

// Map reads an object whose member names are data. It reads each value with read, a method of s or
// a function that calls some. It clears and fills into, or a new map if into is nil. A name that
// Postgres cannot store as text, or that is repeated, is an error.
//
// The path of an error inside the map is that of the map, because its names are data.
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
