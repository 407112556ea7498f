package oracle

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is how many digits a decimal may have when it is written without exponent.
const maxDigits = 1000

// decimal is an exact decimal number: digits / 10^scale. Trailing zeros after the point
// are kept as written; zero is never negative.
type decimal struct {
	neg    bool
	digits string // without leading zeros; "0" for zero
	scale  int    // digits after the point, 0 or more
}

var (
	errNotNumber = errors.New("not a number")
	errTooLong   = errors.New("a number of more than 1000 digits")
)

// splitNumber takes a JSON number apart: all its digits, how many of them stand after
// the point, and the exponent, cut to +-1e9.
func splitNumber(text string) (neg bool, digits string, frac, exp int, err error) {
	p := &parser{src: []byte(text)}
	if p.number(); p.err != nil || p.pos != len(text) {
		return false, "", 0, 0, errNotNumber
	}
	text, neg = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		const limit = 1_000_000_000
		n, err := strconv.ParseInt(text[i+1:], 10, 64)
		switch {
		case err != nil && text[i+1] == '-':
			n = -limit
		case err != nil:
			n = limit
		}
		text, exp = text[:i], int(max(-limit, min(limit, n)))
	}
	whole, rest, _ := strings.Cut(text, ".")
	return neg, whole + rest, len(rest), exp, nil
}

// parseDecimal reads a JSON number exactly. limit is the largest number of digits that
// it may have without exponent.
func parseDecimal(text string, limit int) (decimal, error) {
	neg, digits, frac, exp, err := splitNumber(text)
	if err != nil {
		return decimal{}, err
	}
	scale := frac - exp
	digits = strings.TrimLeft(digits, "0")
	if scale < 0 && digits != "" {
		if len(digits)-scale > limit {
			return decimal{}, errTooLong
		}
		digits += strings.Repeat("0", -scale)
	}
	d := decimal{neg: neg && digits != "", digits: digits, scale: max(scale, 0)}
	if digits == "" {
		d.digits = "0"
	}
	if d.wholeDigits()+d.scale > limit {
		return decimal{}, errTooLong
	}
	return d, nil
}

func decimalOf(n int64) decimal {
	d, _ := parseDecimal(strconv.FormatInt(n, 10), maxDigits)
	return d
}

// wholeDigits counts the digits before the point, at least one.
func (d decimal) wholeDigits() int { return max(1, len(d.digits)-d.scale) }

// String writes the number without exponent, with all its digits after the point.
func (d decimal) String() string {
	s := d.digits
	if n := d.scale + 1 - len(s); n > 0 {
		s = strings.Repeat("0", n) + s
	}
	if d.scale > 0 {
		s = s[:len(s)-d.scale] + "." + s[len(s)-d.scale:]
	}
	if d.neg {
		s = "-" + s
	}
	return s
}

// normal drops trailing zeros after the point: equal numbers become equal values.
func (d decimal) normal() decimal {
	for d.scale > 0 && strings.HasSuffix(d.digits, "0") {
		if d.digits == "0" {
			d.scale = 0
			break
		}
		d.digits, d.scale = d.digits[:len(d.digits)-1], d.scale-1
	}
	return d
}

// fit is d as numeric(precision,scale) holds it; false if a digit would be lost.
func (d decimal) fit(precision, scale int) (decimal, bool) {
	n := d.normal()
	whole := len(n.digits) - n.scale
	if n.digits == "0" {
		whole = 0
	}
	if n.scale > scale || whole > precision-scale {
		return decimal{}, false
	}
	if n.digits != "0" {
		n.digits += strings.Repeat("0", scale-n.scale)
	}
	n.scale = scale
	return n, true
}

// plus adds exactly; the sum has as many digits after the point as the longer of the two.
func (d decimal) plus(o decimal) decimal {
	scale := max(d.scale, o.scale)
	sum := new(big.Int).Add(d.scaled(scale), o.scaled(scale))
	return decimal{neg: sum.Sign() < 0, digits: sum.Abs(sum).String(), scale: scale}
}

// scaled is d times 10^scale, which has no digits after the point.
func (d decimal) scaled(scale int) *big.Int {
	n, _ := new(big.Int).SetString(d.digits+strings.Repeat("0", scale-d.scale), 10)
	if d.neg {
		n.Neg(n)
	}
	return n
}

// compare is -1, 0 or +1 by value.
func (d decimal) compare(o decimal) int {
	scale := max(d.scale, o.scale)
	return d.scaled(scale).Cmp(o.scaled(scale))
}

// parseInteger reads digits without leading zero, fraction or exponent.
func parseInteger(text string, bits int) (int64, error) {
	body := strings.TrimPrefix(text, "-")
	if body == "" || strings.Trim(body, "0123456789") != "" {
		return 0, errors.New("not a whole number")
	}
	if len(body) > 1 && body[0] == '0' {
		return 0, errors.New("a number with a leading zero")
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, errors.New("too large for int" + strconv.Itoa(bits))
	}
	return n, nil
}
