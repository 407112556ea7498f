package notation

import (
	"bytes"
	"math"
	"time"
)

// The years 0000 to 9999, in microseconds since 1970.
const (
	FirstMicro = FirstDay * DaySeconds * 1e6
	LastMicro  = (LastDay+1)*DaySeconds*1e6 - 1
)

const (
	epochFirst = 99964800   // 1973-03-03
	epochLast  = 7258118400 // 2200-01-01, the first second that is refused
)

// The numbers that Debezium writes for Postgres' infinity and -infinity, whatever the unit.
const (
	debeziumInfinity      = 9223372036825200000
	debeziumMinusInfinity = -9223372036832400000
)

// Epoch reads the number of units since 1970. Seconds may have a fraction. Outside 1973-03-03 to
// 2200 the producer most likely sends another unit, which is a reason unless anyTime is true: then
// the years are 0000 to 9999. What is less than a microsecond is cut.
func Epoch(raw []byte, unit time.Duration, anyTime bool) (time.Time, string) {
	whole, fraction := raw, []byte(nil)
	if point := bytes.IndexByte(raw, '.'); point >= 0 && unit == time.Second {
		whole, fraction = raw[:point], raw[point+1:]
	}
	n, reason := Int(whole, math.MinInt64, math.MaxInt64)
	parts, cut, ok := sixDigits(fraction)
	switch {
	case reason == "" && (!ok || fraction != nil && len(fraction) == 0):
		reason = NotSeconds
	case n == debeziumInfinity || n == debeziumMinusInfinity:
		reason = Infinite
	}
	if reason != "" {
		return time.Time{}, reason
	}
	if raw[0] == '-' { // the fraction is below the whole, and is cut towards the past
		parts = -parts
		if cut {
			parts--
		}
	}
	micro := floorDiv(n, 1000)
	if scale := int64(unit / time.Microsecond); scale > 0 {
		if n < FirstMicro/scale || n > LastMicro/scale {
			return time.Time{}, outside(anyTime)
		}
		micro = n*scale + parts
	}
	if !anyTime && (micro < epochFirst*1e6 || micro >= epochLast*1e6) {
		return time.Time{}, WrongUnit
	}
	return time.UnixMicro(micro).UTC(), ""
}

func outside(anyTime bool) string {
	if anyTime {
		return OutOfRange
	}
	return WrongUnit
}

// sixDigits reads the digits of a fraction as millionths, and reports whether others than zeros
// were cut. ok is false if there is something else than digits.
func sixDigits(fraction []byte) (n int64, cut, ok bool) {
	for i, c := range fraction {
		switch {
		case c-'0' > 9:
			return 0, false, false
		case i < 6:
			n = n*10 + int64(c-'0')
		default:
			cut = cut || c != '0'
		}
	}
	for i := len(fraction); i < 6; i++ {
		n *= 10
	}
	return n, cut, true
}

// Time reads RFC 3339 without the allocations of time.Parse. The seconds may be left out, and the
// colon of the zone, as in ISO 8601.
func Time(text []byte) (time.Time, string) {
	micro, end, ok := parseClock(text)
	if !ok {
		return time.Time{}, orInfinite(text, NotTime)
	}
	shift, ok := parseZone(text[end:])
	if !ok {
		return time.Time{}, NotTime
	}
	micro -= shift * 1e6
	if micro < FirstMicro || micro > LastMicro {
		return time.Time{}, OutOfRange
	}
	return time.UnixMicro(micro).UTC(), ""
}

// orInfinite returns the reason why a text is not a time: it is Postgres' infinity, or reason.
func orInfinite(text []byte, reason string) string {
	if string(bytes.TrimPrefix(text, []byte("-"))) == "infinity" {
		return Infinite
	}
	return reason
}

// parseZone reads Z, +hh:mm or +hhmm as seconds east of UTC.
func parseZone(text []byte) (seconds int64, ok bool) {
	if len(text) == 1 && text[0]|0x20 == 'z' {
		return 0, true
	}
	if len(text) < 5 || len(text) > 6 || text[0] != '+' && text[0] != '-' || len(text) == 6 && text[3] != ':' {
		return 0, false
	}
	h, m := pair(text[1:]), pair(text[len(text)-2:])
	if uint(h) > 23 || uint(m) > 59 {
		return 0, false
	}
	seconds = int64(h*60+m) * 60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// LocalTime reads YYYY-MM-DDThh:mm:ss and fractional digits, or YYYY-MM-DDThh:mm, as microseconds
// since 1970-01-01T00:00:00 on the same clock; digits beyond microseconds are cut.
func LocalTime(text []byte) (micro int64, reason string) {
	micro, end, ok := parseClock(text)
	if !ok || end != len(text) {
		return 0, orInfinite(text, NotLocalTime)
	}
	return micro, ""
}

// parseClock reads the YYYY-MM-DDThh:mm[:ss[.digits]] at the start of text as microseconds
// since 1970-01-01T00:00:00, and tells where it ends.
func parseClock(text []byte) (micro int64, end int, ok bool) {
	day, ok := parseDay(text)
	if !ok || len(text) < 16 || text[10]|0x20 != 't' || text[13] != ':' {
		return 0, 0, false
	}
	h, m, s := pair(text[11:]), pair(text[14:]), 0
	end = 16
	if len(text) >= 19 && text[16] == ':' {
		s, end = pair(text[17:]), 19
	}
	if uint(h) > 23 || uint(m) > 59 || uint(s) > 59 { // -1 is above them all
		return 0, 0, false
	}
	micro = (day*DaySeconds + int64(h*3600+m*60+s)) * 1e6
	if end == 16 {
		return micro, end, true
	}
	if end == len(text) || text[end] != '.' {
		return micro, end, true
	}
	unit := int64(1e6)
	for end++; end < len(text) && text[end]-'0' <= 9; end++ {
		unit /= 10 // 0 beyond microseconds
		micro += unit * int64(text[end]-'0')
	}
	return micro, end, end > 20
}

// The years 0000 to 9999.
const (
	FirstDay   = -719528 // 0000-01-01, in days since 1970-01-01
	LastDay    = 2932896 // 9999-12-31
	DaySeconds = 86400
)

// Date reads YYYY-MM-DD, a day that exists, as days since 1970-01-01.
func Date(text []byte) (days int64, reason string) {
	days, ok := parseDay(text)
	if !ok || len(text) != 10 {
		return 0, orInfinite(text, NotDate)
	}
	return days, ""
}

// parseDay reads the YYYY-MM-DD at the start of text as days since 1970-01-01.
func parseDay(text []byte) (days int64, ok bool) {
	if len(text) < 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	century, year, m, d := pair(text), pair(text[2:]), pair(text[5:]), pair(text[8:])
	y := century*100 + year
	if century < 0 || year < 0 || m < 1 || m > 12 || d < 1 || d > daysOf(y, m) {
		return 0, false
	}
	return DayOf(y, m, d), true
}

// pair reads two digits; it returns a negative number if they are none.
func pair(text []byte) int {
	tens, ones := text[0]-'0', text[1]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return int(tens)*10 + int(ones)
}

// daysOf returns the number of days of a month.
func daysOf(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return int(monthDays[month-1])
}

var monthDays = [12]uint8{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// DayOf counts the days from 1970-01-01 in the Gregorian calendar. It counts years from
// March, so that the leap day comes last.
func DayOf(year, month, day int) int64 {
	month -= 3
	if month < 0 {
		month += 12
		year--
	}
	era := floorDiv(year, 400)
	year -= era * 400
	ofYear := (153*month+2)/5 + day - 1
	return int64(era*146097 + year*365 + year/4 - year/100 + ofYear - 719468)
}

func floorDiv[T int | int64](a, b T) T {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}
