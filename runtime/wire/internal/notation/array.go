package notation

// The most that the elements of an array may be, and the least.
var (
	mostOf  = [7]int64{9999, 12, 31, 23, 59, 59, 999_999_999}
	leastOf = [7]int64{0, 1, 1}
)

// LocalTimeArray reads a JSON array of year, month, day, hour and minute, with or without second
// and nanosecond, as [LocalTime] does.
func LocalTimeArray(raw []byte) (micro int64, reason string) {
	parts, n := array(raw)
	days, ok := dayOf(parts)
	if n < 5 || !ok {
		return 0, NotTimeArray
	}
	return (days*DaySeconds+parts[3]*3600+parts[4]*60+parts[5])*1e6 + parts[6]/1000, ""
}

// DateArray reads a JSON array of year, month and day as [Date] does.
func DateArray(raw []byte) (days int64, reason string) {
	parts, n := array(raw)
	days, ok := dayOf(parts)
	if n != 3 || !ok {
		return 0, NotDateArray
	}
	return days, ""
}

// dayOf returns the day that the first three elements are, if there is such a day.
func dayOf(parts [7]int64) (days int64, ok bool) {
	year, month, day := int(parts[0]), int(parts[1]), int(parts[2])
	if month == 0 || day > daysOf(year, month) {
		return 0, false
	}
	return DayOf(year, month, day), true
}

// array reads a JSON array of up to seven whole numbers that are in their ranges. n is 0 if it is
// anything else.
func array(raw []byte) (parts [7]int64, n int) {
	i := 0
	space := func() {
		for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\r' || raw[i] == '\t') {
			i++
		}
	}
	for next := byte('['); n < len(parts); next = ',' {
		if i == len(raw) || raw[i] != next {
			break
		}
		i++
		space()
		v, end, reason := ScanInt(raw, i, leastOf[n], mostOf[n])
		if reason != "" {
			return parts, 0
		}
		parts[n] = v
		n, i = n+1, end
		space()
	}
	if i != len(raw)-1 || raw[i] != ']' {
		return parts, 0
	}
	return parts, n
}
