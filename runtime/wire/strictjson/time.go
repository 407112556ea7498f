package strictjson

import (
	"math"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// Time reads an RFC 3339 time with a zone and returns it in UTC, truncated to microseconds.
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

// Epoch reads the number of units since 1970. A time outside 1973-03-03 to 2200 is an error: the
// producer most likely sends another unit. Nanoseconds are truncated to microseconds.
func (s *Scanner) Epoch(unit time.Duration) time.Time {
	s.peek()
	start := s.pos
	n := s.integer(math.MinInt64, math.MaxInt64, false)
	if s.Failure() != nil {
		return time.Time{}
	}
	t, reason := notation.Epoch(n, unit)
	s.check(start, reason)
	return t
}
