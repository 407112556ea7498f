package strictjson

import (
	"unicode/utf8"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// slowStr continues at i in a string that starts at start and contains an escape or a byte that is
// not ASCII. A string with escapes is copied to s.text.
func (s *lexer) slowStr(start, i int) ([]byte, bool) {
	d := s.data
	from, copied := len(s.text), start
	escaped := false
	for i < len(d) {
		c := d[i]
		switch {
		case c == '"':
			s.pos = i + 1
			if !escaped {
				return d[start:i], true
			}
			s.text = append(s.text, d[copied:i]...)
			if why := s.why[start-1]; why != "" {
				s.flaw.reason = why
			}
			return s.text[from:], true
		case c == '\\':
			s.text = append(s.text, d[copied:i]...)
			n := s.escape(i)
			if n == 0 {
				return nil, false
			}
			i += n
			copied, escaped = i, true
		case c < ' ':
			s.pos = i
			s.fail("holds a control character that is not escaped")
			return nil, false
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(d[i:])
			if r == utf8.RuneError && n == 1 {
				s.pos = i
				s.fail(notation.NotUTF8)
				return nil, false
			}
			i += n
		}
	}
	s.pos = len(d)
	s.fail(cutShort)
	return nil, false
}

// escape appends the text of the escape at i and returns the length of the escape, or 0 after an
// error.
func (s *lexer) escape(i int) int {
	d := s.data
	if i+1 == len(d) {
		return s.badEscape(len(d), cutShort)
	}
	switch c := d[i+1]; c {
	case '"', '\\', '/':
		s.text = append(s.text, c)
	case 'b':
		s.text = append(s.text, '\b')
	case 'f':
		s.text = append(s.text, '\f')
	case 'n':
		s.text = append(s.text, '\n')
	case 'r':
		s.text = append(s.text, '\r')
	case 't':
		s.text = append(s.text, '\t')
	case 'u':
		return s.codePoint(i)
	default:
		return s.badEscape(i, "holds an escape that JSON does not have")
	}
	return 2
}

func (s *lexer) badEscape(pos int, reason string) int {
	s.pos = pos
	s.fail(reason)
	return 0
}

// codePoint is escape for \uXXXX and pairs of surrogates.
func (s *lexer) codePoint(i int) int {
	d := s.data
	r, ok := hex4(d, i+2)
	switch {
	case !ok && i+6 > len(d):
		return s.badEscape(len(d), cutShort)
	case !ok:
		return s.badEscape(i, "holds an escape that JSON does not have")
	case r == 0:
		s.flaw = flaw{i + 6, notation.HoldsNUL}
		s.text = append(s.text, 0)
		return 6
	case r < 0xd800 || r > 0xdfff:
		s.text = utf8.AppendRune(s.text, r)
		return 6
	}
	if i+12 <= len(d) && d[i+6] == '\\' && d[i+7] == 'u' {
		low, ok := hex4(d, i+8)
		if ok && r < 0xdc00 && low >= 0xdc00 && low <= 0xdfff {
			s.text = utf8.AppendRune(s.text, (r-0xd800)<<10+(low-0xdc00)+0x10000)
			return 12
		}
	}
	s.flaw = flaw{i + 6, "holds a lone surrogate"}
	s.text = append(s.text, 0xff) // not valid UTF-8, so no declared name can equal it
	return 6
}

// hex4 reads four hexadecimal digits.
func hex4(d []byte, i int) (r rune, ok bool) {
	if i+4 > len(d) {
		return 0, false
	}
	for _, c := range d[i : i+4] {
		n := notation.HexDigit[c]
		if n > 15 {
			return 0, false
		}
		r = r<<4 | rune(n)
	}
	return r, true
}
