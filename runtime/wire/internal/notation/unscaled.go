package notation

import (
	"encoding/binary"
	"math/big"
	"strconv"
)

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
