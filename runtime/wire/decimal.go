package wire

import (
	"errors"
	"math/big"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// Decimal is an exact decimal number of at most 1000 digits. It is never converted to a float. Its
// zero value is 0. It keeps the digits as they were written, so == compares texts: 1.0 and 1.00
// differ. For arithmetic, pass the result of String to a decimal library of your choice. pgx reads
// and writes it as numeric.
type Decimal struct {
	text string // a JSON number without exponent; "" is 0
}

// ParseDecimal reads a number as JSON writes it, exponents included, without rounding. No
// space, plus sign, leading zero or NaN is accepted.
func ParseDecimal(text string) (Decimal, error) {
	plain, _, reason := notation.PlainDecimal([]byte(text), nil)
	if reason != "" {
		return Decimal{}, errors.New("idem: the text " + reason)
	}
	return Decimal{string(plain)}, nil
}

// PlainDecimal returns the number in plain: the text of a JSON number without exponent. The text
// must not change afterwards. PlainDecimal is for decoders, which check the text.
func PlainDecimal(plain string) Decimal { return Decimal{plain} }

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
func (d *Decimal) UnmarshalText(text []byte) error { return unmarshal(d, text, ParseDecimal) }

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
	if max(len(digits), len(digits)+exp, 1-exp) > notation.MaxDigits {
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

// Equal reports whether two numbers are the same: 1.0 is 1.00, and -0 is 0.
func (d Decimal) Equal(other Decimal) bool { return d.normal() == other.normal() }

// normal returns the digits without trailing zeros of the fraction and without the sign of zero,
// so that equal numbers have equal texts.
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
