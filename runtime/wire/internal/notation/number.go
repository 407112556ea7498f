package notation

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"strconv"
)

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
	if end, _ := ScanNumber(raw, 0); end != len(raw) {
		return 0, NotNumber
	}
	return Float(raw)
}

// MaxDigits bounds a decimal: no key, column or amount needs more, and a short text with an
// exponent must not become a long one.
const MaxDigits = 1000

// PlainDecimal reads a JSON number and returns its text without exponent: raw itself, or,
// if there is an exponent, what it appended to arena, which it returns too.
func PlainDecimal(raw, arena []byte) (plain, grown []byte, reason string) {
	end, exp := ScanNumber(raw, 0)
	switch {
	case end < 0 || end != len(raw):
		return nil, arena, "must be a decimal number"
	case exp >= 0:
		from := len(arena)
		arena, reason = appendPlain(arena, raw, exp)
		return arena[from:len(arena):len(arena)], arena, reason
	case len(raw) > MaxDigits && countDigits(raw) > MaxDigits:
		return nil, arena, TooManyDigits
	}
	return raw, arena, ""
}

// TooManyDigits is why a decimal beyond [MaxDigits] is refused.
const TooManyDigits = "has more than 1000 digits"

func countDigits(raw []byte) (n int) {
	for _, c := range raw {
		if c-'0' <= 9 {
			n++
		}
	}
	return n
}

// appendPlain appends the JSON number raw, whose exponent starts at raw[exp], without it.
func appendPlain(b, raw []byte, exp int) ([]byte, string) {
	from := len(b)
	if raw[0] == '-' {
		b, raw, exp = append(b, '-'), raw[1:], exp-1
	}
	whole, fraction, _ := bytes.Cut(raw[:exp], []byte{'.'})
	n := len(whole) + len(fraction)
	digit := func(i int) byte {
		switch {
		case i < 0 || i >= n:
			return '0'
		case i < len(whole):
			return whole[i]
		}
		return fraction[i-len(whole)]
	}
	first := 0 // the first digit that is not zero
	for first < n && digit(first) == '0' {
		first++
	}
	point := len(whole) + smallExponent(raw[exp+1:])
	scale := max(n-point, 0)
	if first == n {
		point = min(point, 1) // zero needs no further digits before the point
	}
	first = min(first, point-1)
	last := point + scale
	if last-first > MaxDigits {
		return b[:from], TooManyDigits
	}
	for i := first; i < last; i++ {
		if i == point {
			b = append(b, '.')
		}
		b = append(b, digit(i))
	}
	return b, ""
}

// smallExponent reads an exponent's sign and digits. What no accepted number can have
// becomes a value that is refused.
func smallExponent(text []byte) int {
	negative := text[0] == '-'
	n := 0
	for _, c := range text {
		if c-'0' <= 9 && n < 1e6 {
			n = n*10 + int(c-'0')
		}
	}
	if negative {
		return -n
	}
	return n
}

// maxUnscaled is how many bytes [MaxDigits] digits need.
const maxUnscaled = 416

// Unscaled returns the text of the number whose digits are the two's complement, big-endian
// integer data, scale of them after the point. A negative scale is that many zeros more. The text
// is appended to arena, which is returned, too.
func Unscaled(data []byte, scale int64, arena []byte) (plain, grown []byte, reason string) {
	switch {
	case len(data) == 0:
		return nil, arena, "has no digits: the integer has no bytes"
	case len(data) > maxUnscaled || scale > MaxDigits || scale < -MaxDigits:
		return nil, arena, TooManyDigits
	}
	var buffer [20]byte
	digits := buffer[:0]
	if len(data) <= 8 {
		var whole [8]byte
		if data[0] >= 0x80 {
			whole = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
		}
		copy(whole[8-len(data):], data)
		digits = strconv.AppendInt(digits, int64(binary.BigEndian.Uint64(whole[:])), 10)
	} else {
		n := new(big.Int).SetBytes(data)
		if data[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(data))*8))
		}
		digits = n.Append(digits, 10)
	}
	from := len(arena)
	arena, reason = appendScaled(arena, digits, int(scale))
	return arena[from:len(arena):len(arena)], arena, reason
}

// appendScaled appends an integer with a point before its last digits, scale of them.
func appendScaled(b, digits []byte, scale int) ([]byte, string) {
	from := len(b)
	if digits[0] == '-' {
		b, digits = append(b, '-'), digits[1:]
	}
	if digits[0] == '0' {
		scale = max(scale, 0) // zero needs no further zeros
	}
	if max(len(digits), len(digits)-scale, scale+1) > MaxDigits {
		return b[:from], TooManyDigits
	}
	whole := len(digits) - max(scale, 0) // how many digits are before the point
	if whole <= 0 {
		b = append(b, '0')
	}
	b = append(b, digits[:max(whole, 0)]...)
	for range -scale {
		b = append(b, '0')
	}
	if scale > 0 {
		b = append(b, '.')
		for range -whole {
			b = append(b, '0')
		}
		b = append(b, digits[max(whole, 0):]...)
	}
	return b, ""
}
