package strictjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// lexer reads strings, numbers and literals at its position in a document, and records where it
// rejected a value.
type lexer struct {
	wire.Reader
	data  []byte
	pos   int
	depth int  // open containers
	first bool // no member or element of the innermost one has been read
	inKey bool // data is the record key
	flaw  flaw
	// unpacked means that data is not the payload as it was sent, so errors give no offset.
	unpacked bool
	why      map[int]string // why a field cannot read the unpacked value at a position
	text     []byte         // decoded strings that had escapes, and decoded bytes
	// marker is AbsentMarker in a payload, and "" in a record key.
	marker string
}

// flaw is something that JSON allows in a string, but that a decoded value must not contain.
// Members that the spec does not name may contain it.
type flaw struct {
	end    int // after it; 0 = none
	reason string
}

const maxDepth = 64

// start begins a document.
func (s *lexer) start(data []byte, inKey bool) {
	s.data, s.pos, s.depth, s.inKey = data, 0, 0, inKey
	s.flaw, s.marker, s.why = flaw{}, "", nil
	s.first = false
}

// end rejects data after the document.
func (s *lexer) end() {
	if s.pos > 0 && s.Failure() == nil {
		if s.peek(); s.pos < len(s.data) {
			s.fail("has data after its end")
		}
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (s *lexer) peek() byte {
	if s.pos < len(s.data) {
		if c := s.data[s.pos]; c > ' ' {
			return c
		}
	}
	return s.space()
}

func (s *lexer) space() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

func (s *lexer) literal(word string) bool {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		s.fail(notJSON)
		return false
	}
	s.pos += len(word)
	return true
}

// number reads a number and returns its text, or nil after an error, and the index of its
// exponent.
func (s *lexer) number() (raw []byte, exp int) {
	if c := s.peek(); c != '-' && c-'0' > 9 {
		s.wrongKind(notation.NotNumber)
		return nil, 0
	}
	end, exp := notation.ScanNumber(s.data, s.pos)
	switch {
	case -end > len(s.data):
		s.pos = len(s.data)
		s.fail(cutShort)
		return nil, 0
	case end < 0:
		s.fail(notation.NotNumber)
		return nil, 0
	}
	raw = s.data[s.pos:end]
	s.pos = end
	return raw, exp
}

// check rejects the value that starts at start, unless reason is "".
func (s *lexer) check(start int, reason string) {
	if reason != "" {
		s.failAt(start, reason)
	}
}

// stringValue reads a string that is used as a value, so it must not have a flaw. start is its
// position.
func (s *lexer) stringValue(refused string) (raw []byte, start int, ok bool) {
	if s.peek() != '"' {
		s.wrongKind(refused)
		return nil, 0, false
	}
	start = s.pos
	raw, ok = s.str()
	if !ok || !s.flawless(start) {
		return nil, 0, false
	}
	if s.marker != "" && string(raw) == s.marker {
		s.failAt(start, markedValue)
		return nil, 0, false
	}
	return raw, start, true
}

// flawless rejects the text from start to pos if it has a flaw.
func (s *lexer) flawless(start int) bool {
	if s.flaw.end <= start || s.flaw.end > s.pos { // after pos: found before a Seek
		return true
	}
	s.failAt(start, s.flaw.reason)
	return false
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str reads the string that starts at pos and returns its content with escapes decoded. It reads
// eight bytes at a time until one of them is not a plain character.
func (s *lexer) str() ([]byte, bool) {
	d := s.data
	start := s.pos + 1
	i := start
	for ; i+8 <= len(d); i += 8 {
		w := binary.LittleEndian.Uint64(d[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		// If a byte b-1 has its high bit set and b does not, b is 0. Borrows only affect bytes
		// after the lowest hit, so the lowest one is exact.
		hits := (w | (w - ones*' ') | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if hits != 0 {
			i += bits.TrailingZeros64(hits) / 8
			break
		}
	}
	for ; i < len(d); i++ {
		switch c := d[i]; {
		case c == '"':
			s.pos = i + 1
			return d[start:i], true
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			return s.slowStr(start, i)
		}
	}
	s.pos = i
	s.fail(cutShort)
	return nil, false
}

// open enters an object or an array.
func (s *lexer) open(brace byte, refused string) {
	if s.peek() != brace {
		s.wrongKind(refused)
		return
	}
	if s.depth++; s.depth > maxDepth {
		s.fail("is nested too deeply")
		return
	}
	s.pos++
	s.first = true
}

// next reads a comma or the closing brace, and reports whether another member or element follows.
func (s *lexer) next(closing byte) bool {
	c := s.peek()
	if c == closing && s.Failure() == nil {
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

// Pos returns the position of the scanner. Call it before a value that is to be read again after
// Seek.
func (s *lexer) Pos() int { return s.pos }

// Seek moves back to the value at pos, a result of Pos. Since then exactly that value must have
// been read or skipped.
func (s *lexer) Seek(pos int) {
	if s.Failure() == nil {
		s.pos = pos
	}
}
