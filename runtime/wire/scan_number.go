package wire

import (
	"math"
	"strconv"
)

const (
	notInteger = "must be an integer"
	notNumber  = "must be a number"
	outOfRange = "is out of range"
)

// Int32 reads an integer of 32 bits, or its digits in a string. Fraction, exponent,
// leading zero and overflow are errors; -0 is 0.
func (s *Scanner) Int32() int32 { return int32(s.integer(math.MinInt32, math.MaxInt32, true)) }

// Int64 is Int32 with 64 bits.
func (s *Scanner) Int64() int64 { return s.integer(math.MinInt64, math.MaxInt64, true) }

func (s *Scanner) integer(lo, hi int64, inString bool) int64 {
	c := s.peek()
	start := s.pos
	if c == '"' && inString {
		raw, ok := s.str()
		if !ok {
			return 0
		}
		v, reason := parseInt(raw, lo, hi)
		s.check(start, reason)
		return v
	}
	if c != '-' && c-'0' > 9 {
		s.wrongKind(notInteger)
		return 0
	}
	v, end, reason := scanInt(s.data, start, lo, hi)
	if reason != "" {
		s.failAt(start, reason)
		return 0
	}
	s.pos = end
	return v
}

// parseInt reads a text that is an integer and nothing else.
func parseInt(raw []byte, lo, hi int64) (int64, string) {
	v, end, reason := scanInt(raw, 0, lo, hi)
	if reason == "" && end != len(raw) {
		return 0, notInteger
	}
	return v, reason
}

// scanInt reads the integer that starts at d[i] and tells where it ends.
func scanInt(d []byte, i int, lo, hi int64) (v int64, end int, reason string) {
	negative := i < len(d) && d[i] == '-'
	if negative {
		i++
	}
	first := i
	var n uint64
	for i < len(d) && d[i]-'0' <= 9 {
		n = n*10 + uint64(d[i]-'0') // wraps after 19 digits: refused below
		i++
	}
	switch digits := i - first; {
	case digits == 0:
		return 0, 0, notInteger
	case digits > 1 && d[first] == '0':
		return 0, 0, "has a leading zero"
	case i < len(d) && (d[i] == '.' || d[i]|0x20 == 'e'):
		return 0, 0, notInteger
	case digits > 19 || n > 1<<63 || n == 1<<63 && !negative:
		return 0, 0, outOfRange
	}
	v = int64(n)
	if negative {
		v = -v
	}
	if v < lo || v > hi {
		return 0, 0, outOfRange
	}
	return v, i, ""
}

// Float64 reads a number. One that is too large is an error, and so is one that is not 0
// but so small that no float64 but 0 is near.
func (s *Scanner) Float64() float64 {
	raw, _ := s.number()
	if raw == nil {
		return 0
	}
	f, reason := parseFloat(raw)
	s.check(s.pos-len(raw), reason)
	return f
}

// parseFloat reads what scanNumber accepted.
func parseFloat(raw []byte) (float64, string) {
	f, err := strconv.ParseFloat(borrow(raw), 64)
	if err != nil || f == 0 && !isZero(raw) {
		return 0, outOfRange
	}
	return f, ""
}

// isZero reports whether a number has no digit but 0 before its exponent.
func isZero(raw []byte) bool {
	for _, c := range raw {
		switch {
		case c >= '1' && c <= '9':
			return false
		case c|0x20 == 'e':
			return true
		}
	}
	return true
}

// Decimal reads a number, or one in a string, without rounding. An exponent is accepted
// if the number has at most 1000 digits without it.
func (s *Scanner) Decimal() Decimal {
	quoted := s.peek() == '"'
	start := s.pos
	var raw []byte
	if quoted {
		raw, _ = s.str()
	} else {
		raw, _ = s.number()
	}
	if s.err != nil {
		return Decimal{}
	}
	d, reason := s.decimalOf(raw)
	s.check(start, reason)
	return d
}

func (s *Scanner) decimalOf(raw []byte) (d Decimal, reason string) {
	var plain []byte
	plain, s.text, reason = plainDecimal(raw, s.text)
	return Decimal{borrow(plain)}, reason
}

// number consumes a number and returns its text, or nil, and where its exponent starts.
func (s *Scanner) number() (raw []byte, exp int) {
	if c := s.peek(); c != '-' && c-'0' > 9 {
		s.wrongKind(notNumber)
		return nil, 0
	}
	end, exp := scanNumber(s.data, s.pos)
	switch {
	case end < 0 && -end > len(s.data):
		s.pos = len(s.data)
		s.fail(cutShort)
		return nil, 0
	case end < 0:
		s.fail(notNumber)
		return nil, 0
	}
	raw = s.data[s.pos:end]
	s.pos = end
	return raw, exp
}

// scanNumber finds where the JSON number that starts at d[i] ends, and where its exponent
// starts, -1 if it has none. A negative end tells that there is no number; -end is then
// one more than where it breaks.
func scanNumber(d []byte, i int) (end, exp int) {
	if i < len(d) && d[i] == '-' {
		i++
	}
	first := i
	if i = skipDigits(d, i); i == first || i > first+1 && d[first] == '0' {
		return -i - 1, -1
	}
	if i < len(d) && d[i] == '.' {
		first = i + 1
		if i = skipDigits(d, first); i == first {
			return -i - 1, -1
		}
	}
	if i == len(d) || d[i]|0x20 != 'e' {
		return i, -1
	}
	exp = i
	if i++; i < len(d) && (d[i] == '+' || d[i] == '-') {
		i++
	}
	first = i
	if i = skipDigits(d, i); i == first {
		return -i - 1, -1
	}
	return i, exp
}

func skipDigits(d []byte, i int) int {
	for i < len(d) && d[i]-'0' <= 9 {
		i++
	}
	return i
}
