package strictjson

import (
	"math"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// Int32 reads a 32-bit integer, or its digits in a string. A fraction, an exponent, a leading zero
// and an overflow are errors; -0 is 0.
func (s *Scanner) Int32() int32 { return int32(s.integer(math.MinInt32, math.MaxInt32, true)) }

// Int64 is Int32 with 64 bits.
func (s *Scanner) Int64() int64 { return s.integer(math.MinInt64, math.MaxInt64, true) }

func (s *lexer) integer(lo, hi int64, inString bool) int64 {
	c := s.peek()
	start := s.pos
	if c == '"' && inString {
		raw, ok := s.str()
		if !ok {
			return 0
		}
		v, reason := notation.Int(raw, lo, hi)
		s.check(start, reason)
		return v
	}
	if c != '-' && c-'0' > 9 {
		s.wrongKind(notation.NotInteger)
		return 0
	}
	v, end, reason := notation.ScanInt(s.data, start, lo, hi)
	if reason != "" {
		s.failAt(start, reason)
		return 0
	}
	s.pos = end
	return v
}

// Float64 reads a number. A number that is too large is an error, and so is one that is not 0 but
// would be rounded to 0.
func (s *Scanner) Float64() float64 {
	raw, _ := s.number()
	if raw == nil {
		return 0
	}
	f, reason := notation.Float(raw)
	s.check(s.pos-len(raw), reason)
	return f
}

// Decimal reads a number, or a number in a string, without rounding. An exponent is accepted if
// the number has at most 1000 digits when written without it.
func (s *Scanner) Decimal() wire.Decimal {
	quoted := s.peek() == '"'
	start := s.pos
	var raw []byte
	if quoted {
		raw, _ = s.str()
	} else {
		raw, _ = s.number()
	}
	if s.Failure() != nil {
		return wire.Decimal{}
	}
	plain, grown, reason := notation.PlainDecimal(raw, s.text)
	s.text = grown
	s.check(start, reason)
	return wire.PlainDecimal(notation.Borrow(plain))
}
