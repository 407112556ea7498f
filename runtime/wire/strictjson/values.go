package strictjson

import (
	"math"
	"time"

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

// String reads a string.
func (s *Scanner) String() string {
	raw, _, _ := s.stringValue(notString)
	return notation.Borrow(raw)
}

// UUID reads a UUID in its 36-character form, in upper or lower case.
func (s *Scanner) UUID() wire.UUID {
	raw, start, ok := s.stringValue("must be a UUID in a string")
	if !ok {
		return wire.UUID{}
	}
	u, reason := notation.UUID(raw)
	s.check(start, reason)
	return wire.UUID(u)
}

// Bytes reads standard base64 with padding, in a string. The result is nil only after an error.
func (s *Scanner) Bytes() []byte {
	raw, start, ok := s.stringValue("must be base64 in a string")
	if !ok {
		return nil
	}
	data, grown, reason := notation.Bytes(s.text, raw)
	s.text = grown
	s.check(start, reason)
	return data
}

// Enum reads a string that must be one of texts, and returns that element.
func Enum[T ~string](s *Scanner, texts []T) T {
	i, ok := enumOf(s, texts)
	if !ok {
		return ""
	}
	return texts[i]
}

// OptEnum is like [Enum], but also accepts null, for which it returns nil.
func OptEnum[T ~string](s *Scanner, texts []T) *T {
	if s.Null() {
		return nil
	}
	i, ok := enumOf(s, texts)
	if !ok {
		return nil
	}
	return wire.KeepEnum(&s.Reader, texts, i)
}

// enumOf reads a string and finds which of texts it is.
func enumOf[T ~string](s *Scanner, texts []T) (i int, ok bool) {
	raw, start, ok := s.stringValue(notString)
	if !ok {
		return 0, false
	}
	i, reason := notation.Enum(raw, texts)
	s.check(start, reason)
	return i, reason == ""
}

// Opt reads a value with read, a method of s, or null, for which it returns nil: strictjson.Opt(s,
// s.String).
func Opt[T any](s *Scanner, read func() T) *T {
	if s.Null() {
		return nil
	}
	return wire.Keep(&s.Reader, read())
}

// OptSlice is like [Opt], for types whose nil value means null: bytes and JSON.
func OptSlice[S ~[]byte](s *Scanner, read func() S) S {
	if s.Null() {
		return nil
	}
	return read()
}

// Time reads an RFC 3339 time with a zone and returns it in UTC, truncated to microseconds. The
// seconds and the colon of the zone may be left out.
func (s *Scanner) Time() time.Time {
	raw, start, ok := s.stringValue(notation.NotTime)
	if !ok {
		return time.Time{}
	}
	t, reason := notation.Time(raw)
	s.check(start, reason)
	return t
}

// LocalTime reads an RFC 3339 time without a zone, truncated to microseconds.
func (s *Scanner) LocalTime() wire.LocalTime {
	raw, start, ok := s.stringValue(notation.NotLocalTime)
	if !ok {
		return 0
	}
	t, reason := notation.LocalTime(raw)
	s.check(start, reason)
	return wire.LocalTime(t)
}

// Date reads YYYY-MM-DD.
func (s *Scanner) Date() wire.Date {
	raw, start, ok := s.stringValue(notation.NotDate)
	if !ok {
		return 0
	}
	d, reason := notation.Date(raw)
	s.check(start, reason)
	return wire.Date(d)
}

// EpochDays reads an integer: days since 1970-01-01, in the years 0000 to 9999.
func (s *Scanner) EpochDays() wire.Date {
	return wire.Date(s.integer(notation.FirstDay, notation.LastDay, false))
}

// Epoch reads the number of units since 1970, of seconds perhaps with a fraction. A time outside
// 1973-03-03 to 2200 is an error: the producer most likely sends another unit. The time is
// truncated to microseconds.
func (s *Scanner) Epoch(unit time.Duration) time.Time { return s.epoch(unit, false) }

// AnyEpoch is [Scanner.Epoch] for times in the years 0000 to 9999.
func (s *Scanner) AnyEpoch(unit time.Duration) time.Time { return s.epoch(unit, true) }

func (s *Scanner) epoch(unit time.Duration, anyTime bool) time.Time {
	if c := s.peek(); c != '-' && c-'0' > 9 {
		s.wrongKind(notation.NotInteger)
		return time.Time{}
	}
	start := s.pos
	raw, _ := s.number()
	if raw == nil {
		return time.Time{}
	}
	t, reason := notation.Epoch(raw, unit, anyTime)
	s.check(start, reason)
	return t
}

// LocalTimeArray reads an array of year, month, day, hour and minute, with or without second and
// nanosecond.
func (s *Scanner) LocalTimeArray() wire.LocalTime {
	return wire.LocalTime(array(s, notation.LocalTimeArray))
}

// DateArray reads an array of year, month and day.
func (s *Scanner) DateArray() wire.Date { return wire.Date(array(s, notation.DateArray)) }

// array reads a value that is an array by its text.
func array[T any](s *Scanner, parse func([]byte) (T, string)) (v T) {
	s.peek()
	start := s.pos
	raw := s.JSON()
	if raw == nil {
		return v
	}
	v, reason := parse(raw)
	s.check(start, reason)
	return v
}

// DecimalBytes reads the base64 text of a big-endian, two's complement integer: the digits of a
// number, scale of them after the point.
func (s *Scanner) DecimalBytes(scale int64) wire.Decimal {
	raw, start, ok := s.stringValue(notation.NotUnscaled)
	if !ok {
		return wire.Decimal{}
	}
	data, _, reason := notation.Bytes(nil, raw)
	if reason != "" {
		s.failAt(start, notation.NotUnscaled)
		return wire.Decimal{}
	}
	return s.unscaled(start, data, scale)
}

// DecimalStruct reads an object with the members value, as [Scanner.DecimalBytes] reads it, and
// scale.
func (s *Scanner) DecimalStruct() wire.Decimal {
	s.peek()
	start := s.pos
	raw := s.JSON()
	if raw == nil {
		return wire.Decimal{}
	}
	var of Scanner
	var scale int64
	var data []byte
	var seen struct{ scale, value bool }
	of.start(raw, false)
	for of.Object(); of.Member(); {
		switch of.Name() {
		case "scale":
			of.Once(&seen.scale)
			scale = of.integer(math.MinInt32, math.MaxInt32, false)
		case "value":
			of.Once(&seen.value)
			data = of.Bytes()
		default:
			of.Skip()
		}
	}
	if of.Failure() != nil || !seen.scale || !seen.value {
		s.failAt(start, notation.NotScaled)
		return wire.Decimal{}
	}
	return s.unscaled(start, data, scale)
}

func (s *Scanner) unscaled(start int, data []byte, scale int64) wire.Decimal {
	plain, grown, reason := notation.Unscaled(data, scale, s.text)
	s.text = grown
	s.check(start, reason)
	return wire.PlainDecimal(notation.Borrow(plain))
}
