package notation

import "bytes"

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
