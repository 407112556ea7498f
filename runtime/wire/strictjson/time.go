package strictjson

import (
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

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
