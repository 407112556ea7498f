package oracle

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string. What makes it unfit for a text column, though it is JSON, comes
// back as bad.
func (p *parser) str() (text, bad string) {
	var b strings.Builder
	for p.pos++; ; {
		if p.pos >= len(p.src) {
			p.fail("the JSON text ends inside a string")
			return "", ""
		}
		c := p.src[p.pos]
		switch {
		case c == '"':
			p.pos++
			return b.String(), bad
		case c < 0x20:
			p.fail("a control character inside a string")
			return "", ""
		case c == '\\':
			r, why := p.escape()
			if p.err != nil {
				return "", ""
			}
			if why != "" {
				bad = why
			}
			b.WriteRune(r)
		default:
			r, size := utf8.DecodeRune(p.src[p.pos:])
			if r == utf8.RuneError && size == 1 {
				p.fail("not valid UTF-8")
				return "", ""
			}
			b.WriteRune(r)
			p.pos += size
		}
	}
}

func (p *parser) escape() (r rune, bad string) {
	p.pos++
	c := p.peek()
	if i := strings.IndexByte(`"\/bfnrt`, c); c != 0 && i >= 0 {
		p.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), ""
	}
	if c != 'u' {
		p.fail("unknown escape in a string")
		return 0, ""
	}
	r = p.hex4()
	switch {
	case p.err != nil:
		return 0, ""
	case r == 0:
		return 0, "contains U+0000"
	case !utf16.IsSurrogate(r):
		return r, ""
	}
	if back := p.pos; p.peek() == '\\' && p.pos+1 < len(p.src) && p.src[p.pos+1] == 'u' {
		p.pos++
		low := p.hex4()
		if p.err != nil {
			return 0, ""
		}
		if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
			return full, ""
		}
		p.pos = back
	}
	return utf8.RuneError, "contains half of a surrogate pair"
}

// hex4 reads uXXXX.
func (p *parser) hex4() rune {
	p.pos++
	if p.pos+4 > len(p.src) {
		p.fail("the JSON text ends inside a string")
		return 0
	}
	v, err := strconv.ParseUint(string(p.src[p.pos:p.pos+4]), 16, 16)
	if err != nil {
		p.fail("unknown escape in a string")
		return 0
	}
	p.pos += 4
	return rune(v)
}
