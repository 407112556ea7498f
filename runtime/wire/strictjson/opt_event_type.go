package strictjson

import (
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// OptEventType is like [Scanner.EventType], but returns "" if the string, or an object on the path
// to it, is missing or null. If the value is a whole number, OptEventType returns its digits.
func (s *Scanner) OptEventType(m *wire.Message, path ...string) (string, error) {
	s.Borrow(m)
	text := optTextAt(s, path)
	return text, s.Finish("")
}

func optTextAt(s *Scanner, path []string) (text string) {
	if s.Null() {
		return ""
	}
	if len(path) == 0 {
		return digitsOrText(s)
	}
	found := false
	for s.Object(); s.Member(); {
		switch {
		case s.Name() != path[0]:
			s.Skip()
		case found:
			s.fail("occurs twice")
		default:
			found = true
			text = optTextAt(s, path[1:])
		}
	}
	return text
}

// digitsOrText reads a string, or the digits of a whole number.
func digitsOrText(s *Scanner) string {
	if c := s.peek(); c != '-' && c-'0' > 9 {
		return s.String()
	}
	start := s.pos
	raw, _ := s.number()
	for _, c := range raw {
		if c-'0' > 9 {
			s.failAt(start, "must be a string or a whole number")
			return ""
		}
	}
	return notation.Borrow(raw)
}
