package strictjson

import (
	"encoding/json"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Skip passes over the value of a member that is not declared, checking its syntax. An error in
// it is told of what holds the value, because names inside it may be data of the producer.
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

// JSON reads one value of any kind but null and returns it as it was sent.
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

// JSONText reads t, such as a header, as one JSON value of any kind but null.
// It is nil if t is absent.
func JSONText(s *Scanner, t wire.Text) json.RawMessage {
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
