package strictjson

import (
	"bytes"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// Scanner reads one JSON document without reflection and without copying. It keeps the first
// error: after that, reads return zero values and loops end, so a generated decoder checks once,
// with [Scanner.Finish]. The methods of [wire.Reader] read headers, metadata, and the record key
// as text. The zero value is ready for use. A Scanner is not safe for concurrent use.
//
// Besides invalid JSON, a Scanner rejects invalid UTF-8, null for a value that is not optional,
// repeated declared members, numbers out of range, and, in the values that it decodes, lone
// surrogates and U+0000, which Postgres cannot store in text or jsonb. Names of members are
// compared with their escapes decoded; case matters.
type Scanner struct {
	// AbsentMarker is the text that stands for a field that the record omits; "" if there is none.
	// It is valid only for patches: as any other value it is an error.
	AbsentMarker string

	lexer
	name string // of the current member
}

// Borrow implements wire.Decoder.
func (s *Scanner) Borrow(m *wire.Message) {
	if s.Owned() {
		s.text = nil // it belongs to the caller of Reset
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
	s.marker, s.unpacked, s.why = s.AbsentMarker, m.IsUnpacked(), m.Why()
}

// NextKey continues with the record key of m as the next JSON document. Values read before stay
// valid. A missing or empty key is an error.
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
	s.why = m.WhyKey()
}

// Finish implements wire.Decoder. Data after the document is an error. A document from which
// nothing was read is not checked.
func (s *Scanner) Finish(event string) error {
	s.end()
	return s.Err(event)
}

// Object enters an object; follow with Member until that returns false.
func (s *Scanner) Object() { s.open('{', "must be an object") }

// Array enters an array; follow with Element until that returns false.
func (s *Scanner) Array() { s.open('[', "must be an array") }

// Member moves to the next member of an object, whose name Name then returns. The caller must read
// each value, or skip it with Skip.
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

// Once records in seen that a declared member occurred. A second time is an error.
func (s *Scanner) Once(met *bool) {
	if *met {
		s.fail("occurs twice")
	}
	*met = true
}

// Require records an error unless the member called name occurred. Call it after the last member
// of the object.
func (s *Scanner) Require(met bool, name string) {
	if !met {
		s.failMissing(name)
	}
}
