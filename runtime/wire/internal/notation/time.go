package notation

import "time"

// The years 0000 to 9999, in microseconds since 1970.
const (
	FirstMicro = FirstDay * DaySeconds * 1e6
	LastMicro  = (LastDay+1)*DaySeconds*1e6 - 1
)

const (
	epochFirst = 99964800   // 1973-03-03
	epochLast  = 7258118400 // 2200-01-01, the first second that is refused
)

// Epoch returns the time that is n units after 1970, from 1973-03-03 up to 2200. Outside, the
// producer most likely sends another unit. Nanoseconds are cut to microseconds.
func Epoch(n int64, unit time.Duration) (time.Time, string) {
	perSecond := int64(time.Second / unit)
	if n < epochFirst*perSecond || n >= epochLast*perSecond {
		return time.Time{}, WrongUnit
	}
	if perSecond > 1e6 {
		return time.UnixMicro(n / (perSecond / 1e6)).UTC(), ""
	}
	return time.UnixMicro(n * (1e6 / perSecond)).UTC(), ""
}

// Time reads RFC 3339 without the allocations of time.Parse.
func Time(text []byte) (time.Time, string) {
	micro, end, ok := parseClock(text)
	if !ok {
		return time.Time{}, NotTime
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

// LocalTime reads YYYY-MM-DDThh:mm:ss and fractional digits as microseconds since
// 1970-01-01T00:00:00 on the same clock; digits beyond microseconds are cut.
func LocalTime(text []byte) (micro int64, reason string) {
	micro, end, ok := parseClock(text)
	if !ok || end != len(text) {
		return 0, NotLocalTime
	}
	return micro, ""
}

// parseClock reads the YYYY-MM-DDThh:mm:ss[.digits] at the start of text as microseconds
// since 1970-01-01T00:00:00, and tells where it ends.
func parseClock(text []byte) (micro int64, end int, ok bool) {
	day, ok := parseDay(text)
	if !ok || len(text) < 19 || text[10]|0x20 != 't' || text[13] != ':' || text[16] != ':' {
		return 0, 0, false
	}
	h, m, s := pair(text[11:]), pair(text[14:]), pair(text[17:])
	if uint(h) > 23 || uint(m) > 59 || uint(s) > 59 { // -1 is above them all
		return 0, 0, false
	}
	micro = (day*DaySeconds + int64(h*3600+m*60+s)) * 1e6
	end = 19
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
