// Package notation reads the texts and numbers that formats of records have in common:
// integers, decimals, times, dates, UUIDs, bytes in base64. A function returns the value and
// a reason, which is "" if the text holds one. It keeps nothing. Package wire and every format
// import it. It must not import any other package of this module.
package notation

import (
	"bytes"
	"unicode/utf8"
	"unsafe"
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
	NotUTF8      = "is not valid UTF-8"
	OutOfRange   = "is out of range"
	WrongUnit    = "is out of range: the unit may be wrong"
	HoldsNUL     = "holds U+0000, which text and jsonb of Postgres cannot hold"
)

// Borrow returns b as a string without copying it.
func Borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// TextFlaw says why raw cannot be stored as text, "" if it can.
func TextFlaw(raw []byte) string {
	switch {
	case !utf8.Valid(raw):
		return NotUTF8
	case bytes.IndexByte(raw, 0) >= 0:
		return HoldsNUL
	}
	return ""
}

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
