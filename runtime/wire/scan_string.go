package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// borrow returns b as a string without copying it.
func borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// String reads a string.
func (s *Scanner) String() string {
	raw, _, _ := s.stringValue("must be a string")
	return borrow(raw)
}

// Enum reads a string that must be one of texts, and returns that element.
func (s *Scanner) Enum(texts []string) string {
	raw, start, ok := s.stringValue("must be a string")
	if !ok {
		return ""
	}
	text, reason := matchEnum(raw, texts)
	s.check(start, reason)
	return text
}

func matchEnum(raw []byte, texts []string) (text, reason string) {
	for _, text := range texts {
		if text == string(raw) {
			return text, ""
		}
	}
	return "", "must be one of the texts of its enum"
}

// UUID reads a UUID in its 36-character form, in any case.
func (s *Scanner) UUID() UUID {
	raw, start, ok := s.stringValue("must be a UUID in a string")
	if !ok {
		return UUID{}
	}
	u, reason := parseUUID(raw)
	s.check(start, reason)
	return u
}

// Bytes reads bytes in standard base64 with padding. The result is never nil, unless
// there is an error.
func (s *Scanner) Bytes() []byte {
	raw, start, ok := s.stringValue("must be base64 in a string")
	if !ok {
		return nil
	}
	data, reason := s.decodeBytes(raw)
	s.check(start, reason)
	return data
}

var strictBase64 = base64.StdEncoding.Strict()

func (s *Scanner) decodeBytes(raw []byte) ([]byte, string) {
	if len(raw) == 0 {
		return []byte{}, ""
	}
	from := len(s.text)
	grown, err := strictBase64.AppendDecode(s.text, raw)
	if err != nil || bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		return nil, "must be base64 with padding"
	}
	s.text = grown
	return grown[from:len(grown):len(grown)], ""
}

// check refuses the value that starts at start, if there is a reason.
func (s *Scanner) check(start int, reason string) {
	if reason != "" {
		s.failAt(start, reason)
	}
}

// stringValue reads a string that is kept, so it must not have a flaw. start is where it
// stands.
func (s *Scanner) stringValue(refused string) (raw []byte, start int, ok bool) {
	if s.peek() != '"' {
		s.wrongKind(refused)
		return nil, 0, false
	}
	start = s.pos
	raw, ok = s.str()
	if !ok || !s.flawless(start) {
		return nil, 0, false
	}
	return raw, start, true
}

// flaw is what JSON allows in a string but a value that is read must not hold. Members
// that the spec does not name may have it.
type flaw struct {
	end    int // after it; 0 = none
	reason string
}

// flawless refuses the text from start to pos if it holds a flaw.
func (s *Scanner) flawless(start int) bool {
	if s.flaw.end <= start || s.flaw.end > s.pos { // after pos: met before a Seek
		return true
	}
	s.failAt(start, s.flaw.reason)
	return false
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str reads the string that starts at pos and returns its content without escapes. It
// looks at eight bytes at a time for one that needs a closer look.
func (s *Scanner) str() ([]byte, bool) {
	d := s.data
	start := s.pos + 1
	i := start
	for ; i+8 <= len(d); i += 8 {
		w := binary.LittleEndian.Uint64(d[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		// A byte b-1 has its high bit set and b not: b was 0. Borrows only reach bytes after
		// the lowest hit, so that one is exact.
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
