package wire

import (
	"encoding/binary"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// Numeric sets a numeric parameter.
func (r *Rows) Numeric(v Decimal) {
	c := r.col(pgtype.NumericOID)
	at := len(c.buf)
	c.buf = appendNumeric(append(c.buf, 0, 0, 0, 0), v.String())
	binary.BigEndian.PutUint32(c.buf[at:], uint32(len(c.buf)-at-4))
}

// appendNumeric appends the wire form of a number without exponent: a header of 16-bit
// fields (groups, weight of the first one, sign, scale), then groups of four decimal
// digits, with no zero group at either end.
func appendNumeric(b []byte, text string) []byte {
	const header, negative = 8, 0x4000
	var sign uint16
	if text[0] == '-' {
		sign, text = negative, text[1:]
	}
	whole, fraction := text, ""
	if point := strings.IndexByte(text, '.'); point >= 0 {
		whole, fraction = text[:point], text[point+1:]
	}
	scale := len(fraction)
	if whole == "0" {
		whole = ""
	}
	at := len(b)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	weight := (len(whole)+3)/4 - 1
	if head := len(whole) % 4; head > 0 {
		b = appendGroup(b, whole[:head])
		whole = whole[head:]
	}
	for ; len(whole) > 0; whole = whole[4:] {
		b = appendGroup(b, whole[:4])
	}
	for ; len(fraction) >= 4; fraction = fraction[4:] {
		if len(b) == at+header && fraction[:4] == "0000" {
			weight-- // a zero group before the first digit
			continue
		}
		b = appendGroup(b, fraction[:4])
	}
	if len(fraction) > 0 {
		b = appendGroup(b, (fraction + "000")[:4])
	}
	for len(b) > at+header && b[len(b)-1] == 0 && b[len(b)-2] == 0 {
		b = b[:len(b)-2]
	}
	groups := (len(b) - at - header) / 2
	if groups == 0 {
		weight, sign = 0, 0
	}
	binary.BigEndian.PutUint16(b[at:], uint16(groups))
	binary.BigEndian.PutUint16(b[at+2:], uint16(int16(weight)))
	binary.BigEndian.PutUint16(b[at+4:], sign)
	binary.BigEndian.PutUint16(b[at+6:], uint16(scale))
	return b
}

func appendGroup(b []byte, digits string) []byte {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return append(b, byte(n>>8), byte(n))
}
