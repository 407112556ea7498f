package wire

import (
	"math"
	"time"
)

const (
	notATime  = "must be an RFC 3339 time with a zone"
	wrongUnit = "is out of range: the unit may be wrong"
)

// Time reads an RFC 3339 time with a zone and returns it in UTC; digits beyond
// microseconds are cut.
func (s *Scanner) Time() time.Time {
	raw, start, ok := s.stringValue(notATime)
	if !ok {
		return time.Time{}
	}
	t, reason := parseTime(raw)
	s.check(start, reason)
	return t
}

// LocalTime reads an RFC 3339 time without a zone; digits beyond microseconds are cut.
func (s *Scanner) LocalTime() LocalTime {
	raw, start, ok := s.stringValue(notALocalTime)
	if !ok {
		return 0
	}
	t, reason := parseLocalTime(raw)
	s.check(start, reason)
	return t
}

// Date reads YYYY-MM-DD.
func (s *Scanner) Date() Date {
	raw, start, ok := s.stringValue(notADate)
	if !ok {
		return 0
	}
	d, reason := parseDate(raw)
	s.check(start, reason)
	return d
}

// EpochDays reads an integer: days since 1970-01-01, in the years 0000 to 9999.
func (s *Scanner) EpochDays() Date { return Date(s.integer(firstDay, lastDay, false)) }

// EpochS reads an integer: seconds since 1970, from 1973-03-03 up to 2200. Outside, the
// producer most likely sends another unit, which is an error.
func (s *Scanner) EpochS() time.Time { return s.epoch(1) }

// EpochMS is EpochS with milliseconds.
func (s *Scanner) EpochMS() time.Time { return s.epoch(1e3) }

// EpochUS is EpochS with microseconds.
func (s *Scanner) EpochUS() time.Time { return s.epoch(1e6) }

// EpochNS is EpochS with nanoseconds, cut to microseconds.
func (s *Scanner) EpochNS() time.Time { return s.epoch(1e9) }

func (s *Scanner) epoch(perSecond int64) time.Time {
	s.peek()
	start := s.pos
	n := s.integer(math.MinInt64, math.MaxInt64, false)
	if s.err != nil {
		return time.Time{}
	}
	t, reason := epochTime(n, perSecond)
	s.check(start, reason)
	return t
}

const (
	epochFirst = 99964800   // 1973-03-03
	epochLast  = 7258118400 // 2200-01-01, the first second that is refused
)

func epochTime(n, perSecond int64) (time.Time, string) {
	if n < epochFirst*perSecond || n >= epochLast*perSecond {
		return time.Time{}, wrongUnit
	}
	if perSecond > 1e6 {
		return time.UnixMicro(n / (perSecond / 1e6)).UTC(), ""
	}
	return time.UnixMicro(n * (1e6 / perSecond)).UTC(), ""
}

// parseTime reads RFC 3339 without the allocations of time.Parse.
func parseTime(text []byte) (time.Time, string) {
	micro, end, ok := parseClock(text)
	if !ok {
		return time.Time{}, notATime
	}
	shift, ok := parseZone(text[end:])
	if !ok {
		return time.Time{}, notATime
	}
	micro -= shift * 1e6
	if micro < firstMicro || micro > lastMicro {
		return time.Time{}, outOfRange
	}
	return time.UnixMicro(micro).UTC(), ""
}

// parseZone reads Z or +hh:mm as seconds east of UTC.
func parseZone(text []byte) (seconds int64, ok bool) {
	if len(text) == 1 && text[0]|0x20 == 'z' {
		return 0, true
	}
	if len(text) != 6 || text[0] != '+' && text[0] != '-' || text[3] != ':' {
		return 0, false
	}
	h, m := pair(text[1:]), pair(text[4:])
	if uint(h) > 23 || uint(m) > 59 {
		return 0, false
	}
	seconds = int64(h*60+m) * 60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}
