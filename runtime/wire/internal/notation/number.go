package notation

import "strconv"

// Int reads a text that is an integer and nothing else.
func Int(raw []byte, lo, hi int64) (int64, string) {
	v, end, reason := ScanInt(raw, 0, lo, hi)
	if reason == "" && end != len(raw) {
		return 0, NotInteger
	}
	return v, reason
}

// ScanInt reads the integer that starts at d[i] and tells where it ends.
func ScanInt(d []byte, i int, lo, hi int64) (v int64, end int, reason string) {
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
		return 0, 0, NotInteger
	case digits > 1 && d[first] == '0':
		return 0, 0, "has a leading zero"
	case i < len(d) && (d[i] == '.' || d[i]|0x20 == 'e'):
		return 0, 0, NotInteger
	case digits > 19 || n > 1<<63 || n == 1<<63 && !negative:
		return 0, 0, OutOfRange
	}
	v = int64(n)
	if negative {
		v = -v
	}
	if v < lo || v > hi {
		return 0, 0, OutOfRange
	}
	return v, i, ""
}

// Float reads what ScanNumber accepted.
func Float(raw []byte) (float64, string) {
	f, err := strconv.ParseFloat(Borrow(raw), 64)
	if err != nil || f == 0 && !isZero(raw) {
		return 0, OutOfRange
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

// ScanNumber finds where the JSON number that starts at d[i] ends, and where its exponent
// starts, -1 if it has none. A negative end tells that there is no number; -end is then
// one more than where it breaks.
func ScanNumber(d []byte, i int) (end, exp int) {
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

// FloatText reads a number as JSON writes it.
func FloatText(raw []byte) (float64, string) {
	if end, _ := ScanNumber(raw, 0); end < 0 || end != len(raw) {
		return 0, NotNumber
	}
	return Float(raw)
}
