package strictjson

import (
	"encoding/json"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Skip skips the value of a member that is not declared, and checks its syntax. The path of an
// error is that of the object that contains the member, because the names may be data.
func (s *Scanner) Skip() {
	if s.Failure() != nil {
		return
	}
	s.peek()
	start := s.pos
	skip(s)
	if s.Failure() != nil {
		s.Failure().Path = s.pathTo(start, false, "")
	}
}

// JSON reads one value of any type except null and returns its text unchanged.
func (s *Scanner) JSON() json.RawMessage {
	if s.Failure() != nil {
		return nil
	}
	c := s.peek()
	start := s.pos
	if c == 'n' {
		s.wrongKind(notJSON)
		return nil
	}
	skip(s)
	if s.Failure() != nil {
		s.Failure().Path = s.pathTo(start, true, "")
		return nil
	}
	if !s.flawless(start) {
		return nil
	}
	if s.isMarker(start) {
		s.failAt(start, markedValue)
		return nil
	}
	return json.RawMessage(s.data[start:s.pos:s.pos])
}

// JSONText reads t, such as a header, as one JSON value of any type except null. It returns nil if
// t is absent.
func JSONText(t wire.Text) json.RawMessage {
	raw := t.Raw()
	if raw == nil {
		return nil
	}
	var of Scanner
	of.start(raw, false)
	v := of.JSON()
	of.end()
	if err := of.Failure(); err != nil {
		t.Refuse(err.Reason)
		return nil
	}
	return v
}

func skip(s *Scanner) {
	switch c := s.peek(); c {
	case '"':
		s.str()
	case '{':
		for s.Object(); s.Member(); {
			skip(s)
		}
	case '[':
		for s.Array(); s.Element(); {
			skip(s)
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
