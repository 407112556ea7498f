package strictjson

import (
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// notType is the reason for what cannot be the type of an event.
const notType = "must be a string: it is the event type"

// EventType returns the string at path in the value of m. It reads the whole value. It is an error
// if the string, or an object on the path to it, is missing, null, repeated or of another type.
// The string is valid until the next Borrow.
func (s *Scanner) EventType(m *wire.Message, path ...string) (string, error) {
	s.Borrow(m)
	text := textAt(s, path)
	return text, s.Finish("")
}

func textAt(s *Scanner, path []string) (text string) {
	if len(path) == 0 {
		raw, _, _ := s.stringValue(notType)
		return notation.Borrow(raw)
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
			text = textAt(s, path[1:])
		}
	}
	if !found {
		s.failMissing(path[0])
	}
	return text
}
