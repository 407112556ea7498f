package wire

import "bytes"

// Scanner reads one JSON document strictly, without reflection and without copying. The
// first error sticks: later reads return zero values and loops end, so that generated
// decoders check once, with [Scanner.Finish]. Its zero value is ready for use. It is not
// safe for concurrent use.
//
// Refused are, besides what is no JSON: invalid UTF-8, null for a value that is not
// optional, duplicates of declared members, numbers out of range, and in values that are
// read lone surrogates and U+0000, which Postgres cannot store. Member names are
// compared after their escapes, with case.
type Scanner struct {
	MaxDepth int // levels of objects and arrays; 0 means 64

	data  []byte
	pos   int
	name  string
	err   *DecodeError
	first bool // no member or element of the innermost container was read yet
	inKey bool // data is the record key
	owned bool // values must not point into the message or be reused
	depth int  // open containers
	flaw  flaw
	text  []byte // arena of strings that had escapes, and of decoded bytes
	opt   optionals
}

const defaultDepth = 64

// Borrow starts the value of m. What is read may point into m and into the scanner, and
// is valid until the next Borrow: for values that are copied onwards at once.
func (s *Scanner) Borrow(m *Message) {
	if s.owned {
		*s = Scanner{MaxDepth: s.MaxDepth} // the arenas belong to whoever read from Reset
	}
	s.start(m.Value)
	s.err, s.inKey = nil, false
	s.text = s.text[:0]
	s.opt.reset()
}

// Reset starts the value of m. What is read is owned by the caller.
func (s *Scanner) Reset(m *Message) {
	*s = Scanner{MaxDepth: s.MaxDepth, owned: true}
	s.start(bytes.Clone(m.Value))
}

// NextKey goes on with the record key of m as a JSON document. What was read before stays
// valid. A record without a key, or with an empty one, is an error.
func (s *Scanner) NextKey(m *Message) {
	s.end()
	if s.err != nil {
		return
	}
	s.inKey = true
	switch {
	case m.Key == nil:
		s.failSource("record key", "is missing")
	case s.owned:
		s.start(bytes.Clone(m.Key))
	default:
		s.start(m.Key)
	}
}

func (s *Scanner) start(data []byte) {
	s.data, s.pos, s.depth, s.first = data, 0, 0, false
	s.flaw = flaw{}
}

// Finish returns the first error, as a [*DecodeError] of event, or one if data follows
// the document. A document of which nothing was read is not checked.
func (s *Scanner) Finish(event string) error {
	s.end()
	if s.err == nil {
		return nil // not a nil pointer in an interface
	}
	s.err.Event = event
	return s.err
}

// end refuses data after the document.
func (s *Scanner) end() {
	if s.pos > 0 && s.err == nil {
		if s.peek(); s.pos < len(s.data) {
			s.fail("has data after its end")
		}
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (s *Scanner) peek() byte {
	if s.pos < len(s.data) {
		if c := s.data[s.pos]; c > ' ' {
			return c
		}
	}
	return s.space()
}

func (s *Scanner) space() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// Object enters an object; follow with Member until that returns false.
func (s *Scanner) Object() { s.open('{', "must be an object") }

// Array enters an array; follow with Element until that returns false.
func (s *Scanner) Array() { s.open('[', "must be an array") }

func (s *Scanner) open(brace byte, refused string) {
	if s.peek() != brace {
		s.wrongKind(refused)
		return
	}
	limit := s.MaxDepth
	if limit == 0 {
		limit = defaultDepth
	}
	if s.depth++; s.depth > limit {
		s.fail("is nested too deeply")
		return
	}
	s.pos++
	s.first = true
}

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
	s.name = borrow(raw)
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

// next consumes a comma or the closing brace; it reports whether something follows.
func (s *Scanner) next(closing byte) bool {
	c := s.peek()
	if c == closing && s.err == nil {
		s.pos++
		s.depth--
		s.first = false
		return false
	}
	if !s.first {
		if c != ',' {
			s.broken()
			return false
		}
		s.pos++
		s.peek()
	}
	s.first = false
	if s.pos == len(s.data) {
		s.broken()
		return false
	}
	return true
}

// Null consumes a null and reports whether there was one.
func (s *Scanner) Null() bool {
	if s.peek() != 'n' {
		return false
	}
	return s.literal("null")
}

func (s *Scanner) literal(word string) bool {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		s.fail(notJSON)
		return false
	}
	s.pos += len(word)
	return true
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

// Pos returns where the scanner stands: before a value, to read that again after Seek.
func (s *Scanner) Pos() int { return s.pos }

// Seek goes back to the value that stands at pos, which must have been read or skipped
// since Pos returned it, with nothing after it.
func (s *Scanner) Seek(pos int) {
	if s.err == nil {
		s.pos = pos
	}
}

// Same fails unless equal: the field at path and the part of the record key with the same
// name must hold the same value.
func (s *Scanner) Same(path string, equal bool) {
	if !equal {
		s.failSource(path, "differs from the record key")
	}
}
