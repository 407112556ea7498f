package wire

import (
	"bytes"
	"errors"
	"math/big"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// maxDigits bounds a Decimal: no key, column or amount needs more, and a short text with
// an exponent must not become a long one.
const maxDigits = 1000

// Decimal is an exact decimal number of at most 1000 digits. It never passes through a
// float. Its zero value is 0. It keeps the digits as they were written, so == compares
// texts: 1.0 and 1.00 differ. For arithmetic convert it through String with the decimal
// library of your choice. pgx reads and writes it as numeric.
type Decimal struct {
	text string // a JSON number without exponent; "" is 0
}

// ParseDecimal reads a number as JSON writes it, exponents included, without rounding. No
// space, plus sign, leading zero or NaN is accepted.
func ParseDecimal(text string) (Decimal, error) {
	plain, _, reason := plainDecimal([]byte(text), nil)
	if reason != "" {
		return Decimal{}, errors.New("idem: the text " + reason)
	}
	return Decimal{string(plain)}, nil
}

// MustDecimal is [ParseDecimal] for constants. It panics on an error.
func MustDecimal(text string) Decimal {
	d, err := ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// String returns the digits without exponent.
func (d Decimal) String() string {
	if d.text == "" {
		return "0"
	}
	return d.text
}

// MarshalText returns the text of String; it never fails.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what [ParseDecimal] reads.
func (d *Decimal) UnmarshalText(text []byte) error {
	v, err := ParseDecimal(string(text))
	if err == nil {
		*d = v
	}
	return err
}

// NumericValue lets pgx write the number.
func (d Decimal) NumericValue() (pgtype.Numeric, error) {
	whole, fraction, _ := strings.Cut(d.String(), ".")
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return pgtype.Numeric{}, errors.New("idem: not a decimal number")
	}
	return pgtype.Numeric{Int: n, Exp: -int32(len(fraction)), Valid: true}, nil
}

// ScanNumeric lets pgx read into the number. NULL, NaN, infinity and more than 1000
// digits are errors.
func (d *Decimal) ScanNumeric(n pgtype.Numeric) error {
	switch {
	case !n.Valid:
		return errors.New("idem: cannot scan NULL into a Decimal; scan into a *Decimal")
	case n.NaN || n.InfinityModifier != pgtype.Finite || n.Int == nil:
		return errors.New("idem: cannot scan NaN or infinity into a Decimal")
	}
	text := n.Int.String()
	digits := strings.TrimPrefix(text, "-")
	sign := text[:len(text)-len(digits)]
	exp := int(n.Exp)
	if digits == "0" {
		exp = min(exp, 0)
	}
	if max(len(digits), len(digits)+exp, 1-exp) > maxDigits {
		return errors.New("idem: cannot scan more than 1000 digits into a Decimal")
	}
	if exp >= 0 {
		d.text = text + strings.Repeat("0", exp)
		return nil
	}
	if missing := 1 - exp - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) + exp
	d.text = sign + digits[:point] + "." + digits[point:]
	return nil
}

// plainDecimal reads a JSON number and returns its text without exponent: raw itself, or,
// if there is an exponent, what it appended to arena, which it returns too.
func plainDecimal(raw, arena []byte) (plain, grown []byte, reason string) {
	end, exp := scanNumber(raw, 0)
	switch {
	case end < 0 || end != len(raw):
		return nil, arena, "must be a decimal number"
	case exp >= 0:
		from := len(arena)
		arena, reason = appendPlain(arena, raw, exp)
		return arena[from:len(arena):len(arena)], arena, reason
	case len(raw) > maxDigits && countDigits(raw) > maxDigits:
		return nil, arena, tooManyDigits
	}
	return raw, arena, ""
}

const tooManyDigits = "has more than 1000 digits"

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
	if last-first > maxDigits {
		return b[:from], tooManyDigits
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

// normal returns the digits without trailing zeros of the fraction and without the sign
// of zero, so that equal numbers have equal texts.
func (d Decimal) normal() string {
	text := d.String()
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}
