package wire

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonContent writes JSON values so that those which jsonb stores as equal have the same bytes:
// members sorted by name, of repeated ones the last, numbers by value, strings without needless
// escapes, no white space. Its zero value is ready for use.
type jsonContent struct {
	src     []byte
	pos     int
	out     []byte
	members []jsonMember // of the objects that are open
	sorted  []byte
}

// jsonMember is where a member is in the output.
type jsonMember struct{ name, value, end int32 }

// keptContent bounds the memory that is kept for the next value, in elements of each slice.
const keptContent = 1 << 16

// append appends the content of src, which must be a JSON value. Of anything else it appends
// something, which is the same each time.
func (c *jsonContent) append(b, src []byte) []byte {
	c.src, c.pos, c.out, c.members = src, 0, b, c.members[:0]
	for c.peek() != 0 {
		c.value()
	}
	out := c.out
	c.src, c.out = nil, nil
	if cap(c.members) > keptContent || cap(c.sorted) > keptContent {
		c.members, c.sorted = nil, nil
	}
	return out
}

// peek skips white space, commas and colons, and returns the next byte, or 0 at the end.
func (c *jsonContent) peek() byte {
	for ; c.pos < len(c.src); c.pos++ {
		switch b := c.src[c.pos]; b {
		case ' ', '\n', '\r', '\t', ',', ':':
		default:
			return b
		}
	}
	return 0
}

func (c *jsonContent) value() {
	switch b := c.peek(); {
	case b == '{':
		c.pos++
		c.object()
	case b == '[':
		c.pos++
		c.out = append(c.out, '[')
		for b := c.peek(); b != ']' && b != 0; b = c.peek() {
			c.value()
			c.out = append(c.out, ',')
		}
		c.pos++
		c.out = append(c.out, ']')
	case b == '"':
		c.text()
	case b == '-' || b-'0' <= 9:
		c.number()
	default: // true, false or null: the first byte tells them apart
		c.out = append(c.out, b)
		for c.pos++; c.pos < len(c.src) && c.src[c.pos]-'a' <= 'z'-'a'; c.pos++ {
		}
	}
}

func (c *jsonContent) object() {
	c.out = append(c.out, '{')
	first, start, inOrder := len(c.members), len(c.out), true
	for b := c.peek(); b != '}' && b != 0; b = c.peek() {
		m := jsonMember{name: int32(len(c.out))}
		c.value()
		m.value = int32(len(c.out))
		c.value()
		m.end = int32(len(c.out))
		inOrder = inOrder && (len(c.members) == first || c.compare(c.members[len(c.members)-1], m) < 0)
		c.members = append(c.members, m)
	}
	c.pos++
	if !inOrder {
		c.sort(c.members[first:], start)
	}
	c.members = c.members[:first]
	c.out = append(c.out, '}')
}

// compare compares the names of two members.
func (c *jsonContent) compare(a, b jsonMember) int {
	return bytes.Compare(c.out[a.name:a.value], c.out[b.name:b.value])
}

// sort puts the members of an object, which begin at start in the output, in the order of their
// names. Of equal names the last stays.
func (c *jsonContent) sort(members []jsonMember, start int) {
	slices.SortStableFunc(members, c.compare)
	c.sorted = c.sorted[:0]
	for i, m := range members {
		if i+1 == len(members) || c.compare(m, members[i+1]) != 0 {
			c.sorted = append(c.sorted, c.out[m.name:m.end]...)
		}
	}
	c.out = append(c.out[:start], c.sorted...)
}

// text appends a string: its length, and its characters without escapes.
func (c *jsonContent) text() {
	c.out = append(c.out, '"', 0, 0, 0, 0)
	start := len(c.out)
	for c.pos++; c.pos < len(c.src) && c.src[c.pos] != '"'; {
		plain := c.pos
		for c.pos < len(c.src) && c.src[c.pos] != '"' && c.src[c.pos] != '\\' {
			c.pos++
		}
		c.out = append(c.out, c.src[plain:c.pos]...)
		if c.pos < len(c.src) && c.src[c.pos] == '\\' {
			c.escape()
		}
	}
	c.pos++
	binary.BigEndian.PutUint32(c.out[start-4:], uint32(len(c.out)-start))
}

// escape appends the character of an escape.
func (c *jsonContent) escape() {
	if c.pos+1 >= len(c.src) {
		c.pos = len(c.src)
		return
	}
	char := c.src[c.pos+1]
	c.pos += 2
	switch char {
	case 'b':
		char = '\b'
	case 'f':
		char = '\f'
	case 'n':
		char = '\n'
	case 'r':
		char = '\r'
	case 't':
		char = '\t'
	case 'u':
		r := c.unit()
		if single := c.pos; utf16.IsSurrogate(r) && bytes.HasPrefix(c.src[c.pos:], []byte(`\u`)) {
			c.pos += 2
			if r = utf16.DecodeRune(r, c.unit()); r == utf8.RuneError {
				c.pos = single
			}
		}
		c.out = utf8.AppendRune(c.out, r)
		return
	}
	c.out = append(c.out, char)
}

// unit reads the four digits of a \u escape.
func (c *jsonContent) unit() rune {
	end := min(c.pos+4, len(c.src))
	n, _ := strconv.ParseUint(string(c.src[c.pos:end]), 16, 16) // the value is valid
	c.pos = end
	return rune(n)
}

// number appends a number as digits without zeros at either end, and the power of ten that they
// are multiplied by, so that 1.0, 1 and 10e-1 are the same.
func (c *jsonContent) number() {
	start, point, exp := c.pos, -1, -1
	for ; c.pos < len(c.src); c.pos++ {
		switch b := c.src[c.pos]; {
		case b == '.':
			point = c.pos
		case b|0x20 == 'e':
			exp = c.pos
		case b-'0' <= 9, b == '-', b == '+':
			continue
		default:
			c.digits(c.src[start:c.pos], point-start, exp-start)
			return
		}
	}
	c.digits(c.src[start:], point-start, exp-start)
}

// digits appends the number raw, whose point and exponent are at these places, if they are not
// negative.
func (c *jsonContent) digits(raw []byte, point, exp int) {
	from, power := len(c.out), int64(0)
	end := len(raw)
	if exp >= 0 {
		end = exp
		power, _ = strconv.ParseInt(string(raw[exp+1:]), 10, 62) // too large for jsonb: all are equal
	}
	c.out = append(c.out, '#')
	if raw[0] == '-' {
		c.out = append(c.out, '-')
	}
	first := len(c.out)
	for i, b := range raw[:end] {
		if b-'0' <= 9 && (b != '0' || len(c.out) > first) {
			c.out = append(c.out, b)
		}
		if point >= 0 && i > point {
			power--
		}
	}
	last := len(c.out)
	for last > first && c.out[last-1] == '0' {
		last--
		power++
	}
	if last == first {
		c.out = append(c.out[:from], '#', '0') // whatever its sign and power
		return
	}
	c.out = strconv.AppendInt(append(c.out[:last], 'e'), power, 10)
}
