// Package notation reads the texts and numbers that formats of records have in common:
// integers, decimals, times, dates, UUIDs, bytes in base64. A function returns the value and
// a reason, which is "" if the text holds one. It keeps nothing. Package wire and every format
// import it. It must not import any package of this module but text.
package notation

import (
	"bytes"
	"encoding/base64"
	"unsafe"

	"github.com/idemgen/idemgen/internal/text"
)

// Reasons that more than one reader gives.
const (
	NotInteger   = "must be an integer"
	NotNumber    = "must be a number"
	NotBool      = "must be true or false"
	NotTime      = "must be an RFC 3339 time with a zone"
	NotLocalTime = "must be a local time: YYYY-MM-DDThh:mm:ss without a zone"
	NotDate      = "must be a date: YYYY-MM-DD"
	NotSeconds   = "must be a number of seconds without an exponent"
	NotTimeArray = "must be an array of year, month, day, hour and minute, perhaps second, perhaps nanosecond"
	NotDateArray = "must be an array of year, month and day"
	NotUnscaled  = "must be base64 of a big-endian integer"
	NotScaled    = "must be an object with scale, an integer, and value, base64 of a big-endian integer"
	Infinite     = "is infinity, which the type does not have"
	NotUTF8      = text.NotUTF8
	OutOfRange   = "is out of range"
	WrongUnit    = "is out of range: the unit may be wrong"
	HoldsNUL     = text.HoldsNUL
)

// Borrow returns b as a string without copying it.
func Borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// TextFlaw is [text.Flaw] of bytes.
func TextFlaw(raw []byte) string { return text.Flaw(Borrow(raw)) }

// Refused is [text.FirstRefused].
func Refused(document []byte, why map[int]string) string { return text.FirstRefused(document, why) }

// Bool reads true or false.
func Bool(raw []byte) (bool, string) {
	switch string(raw) {
	case "true":
		return true, ""
	case "false":
		return false, ""
	}
	return false, NotBool
}

// Enum returns which element of texts equals raw.
func Enum[T ~string](raw []byte, texts []T) (i int, reason string) {
	for i, text := range texts {
		if string(text) == string(raw) {
			return i, ""
		}
	}
	return 0, "must be one of the texts of its enum"
}

// hexAt says where the two digits of each byte are in the text of a UUID.
var hexAt = [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

// UUID reads the 36-character form. The reason is "" if it is one.
func UUID(text []byte) (u [16]byte, reason string) {
	const refused = "must be a UUID of 36 characters"
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return u, refused
	}
	var all byte
	for i, at := range hexAt {
		hi, lo := HexDigit[text[at]], HexDigit[text[at+1]]
		all |= hi | lo
		u[i] = hi<<4 | lo
	}
	if all > 15 {
		return [16]byte{}, refused
	}
	return u, ""
}

// HexDigit is the value of each hexadecimal digit, 255 for any other byte.
var HexDigit = func() (t [256]byte) {
	for c := range t {
		t[c] = 255
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()

var strictBase64 = base64.StdEncoding.Strict()

// Bytes reads standard base64 with padding. It appends to arena, which it returns grown, and
// returns what it appended, which is not nil unless there is a reason.
func Bytes(arena, raw []byte) (data, grown []byte, reason string) {
	if len(raw) == 0 {
		return []byte{}, arena, ""
	}
	from := len(arena)
	grown, err := strictBase64.AppendDecode(arena, raw)
	if err != nil || bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		return nil, arena, "must be base64 with padding"
	}
	return grown[from:len(grown):len(grown)], grown, ""
}
