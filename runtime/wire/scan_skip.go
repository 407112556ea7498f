package wire

import "encoding/json"

// Skip passes over one value of any kind, checking its syntax. An error in it is told of
// what holds the value, because names inside it may be data of the producer.
func (s *Scanner) Skip() {
	if s.err != nil {
		return
	}
	s.peek()
	start := s.pos
	s.skip()
	if s.err != nil {
		s.err.Path = s.pathTo(start, false, "")
	}
}

// JSON reads one value of any kind but null and returns it as it was sent.
func (s *Scanner) JSON() json.RawMessage {
	if s.err != nil {
		return nil
	}
	c := s.peek()
	start := s.pos
	if c == 'n' {
		s.wrongKind(notJSON)
		return nil
	}
	s.skip()
	if s.err != nil {
		s.err.Path = s.pathTo(start, true, "")
		return nil
	}
	if !s.flawless(start) {
		return nil
	}
	return json.RawMessage(s.data[start:s.pos:s.pos])
}

func (s *Scanner) skip() {
	switch c := s.peek(); c {
	case '"':
		s.str()
	case '{':
		for s.Object(); s.Member(); {
			s.skip()
		}
	case '[':
		for s.Array(); s.Element(); {
			s.skip()
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}
