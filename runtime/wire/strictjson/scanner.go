package strictjson

import (
	"bytes"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// Scanner reads one JSON document without reflection and without copying. The first error
// sticks: later reads return zero values and loops end, so that generated decoders check
// once, with [Scanner.Finish]. Headers, the record key as text and metadata are read by the
// methods of [wire.Reader]. Its zero value is ready for use. It is not safe for concurrent
// use.
//
// Refused are, besides what is no JSON: invalid UTF-8, null for a value that is not
// optional, duplicates of declared members, numbers out of range, and in values that are
// read lone surrogates and U+0000, which text and jsonb of Postgres cannot hold. Member names are
// compared after their escapes, with case.
type Scanner struct {
	// AbsentMarker is the text that means that a patch is not there; "" if there is none. As any
	// other value it is an error.
	AbsentMarker string

	lexer
	name string // of the current member
}

// Borrow implements wire.Decoder.
func (s *Scanner) Borrow(m *wire.Message) {
	if s.Owned() {
		s.text = nil // it belongs to whoever read after Reset
	}
	s.Lend()
	s.text = s.text[:0]
	s.payload(m.Value, m)
}

// Reset implements wire.Decoder.
func (s *Scanner) Reset(m *wire.Message) {
	*s = Scanner{AbsentMarker: s.AbsentMarker}
	s.Own()
	s.payload(bytes.Clone(m.Value), m)
}

// payload starts the payload of m.
func (s *Scanner) payload(data []byte, m *wire.Message) {
	s.start(data, false)
	s.marker, s.unpacked = s.AbsentMarker, m.IsUnpacked()
}

// NextKey goes on with the record key of m as a JSON document. What was read before stays
// valid. A record without a key, or with an empty one, is an error.
func (s *Scanner) NextKey(m *wire.Message) {
	s.end()
	switch {
	case s.Failure() != nil:
	case m.Key == nil:
		s.Fail("record key", 0, "is missing")
	case s.Owned():
		s.start(bytes.Clone(m.Key), true)
	default:
		s.start(m.Key, true)
	}
}

// Finish implements wire.Decoder: it also refuses data after the document. A document of
// which nothing was read is not checked.
func (s *Scanner) Finish(event string) error {
	s.end()
	return s.Err(event)
}

// Object enters an object; follow with Member until that returns false.
func (s *Scanner) Object() { s.open('{', "must be an object") }

// Array enters an array; follow with Element until that returns false.
func (s *Scanner) Array() { s.open('[', "must be an array") }

// Member moves to the next member of an object, whose name Name then returns. Every value
// must be read, or passed over with Skip.
func (s *Scanner) Member() bool {
	if d, i := s.data, s.pos; i+1 < len(d) && d[i] == ',' && d[i+1] == '"' && !s.first {
		s.pos++ // the usual case
	} else if !s.next('}') {
		return false
	} else if s.data[s.pos] != '"' {
		s.fail(notJSON)
		return false
	}
	raw, ok := s.str()
	if !ok {
		return false
	}
	s.name = notation.Borrow(raw)
	if s.peek() != ':' {
		s.broken()
		return false
	}
	s.pos++
	return true
}

// Name returns the name of the current member, valid until the next read.
func (s *Scanner) Name() string { return s.name }

// Element moves to the next element of an array.
func (s *Scanner) Element() bool { return s.next(']') }

// Null consumes a null and reports whether there was one.
func (s *Scanner) Null() bool {
	if s.peek() != 'n' {
		return false
	}
	return s.literal("null")
}

// Bool reads true or false.
func (s *Scanner) Bool() bool {
	switch s.peek() {
	case 't':
		return s.literal("true")
	case 'f':
		s.literal("false")
		return false
	}
	s.wrongKind("must be true or false")
	return false
}
