package notation

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
