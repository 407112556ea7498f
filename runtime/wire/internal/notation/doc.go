// Package notation reads the texts and numbers that formats of records have in common:
// integers, decimals, times, dates, UUIDs, bytes in base64. A function returns the value and
// a reason, which is "" if the text holds one. It keeps nothing. Package wire and every format
// import it. It must not import any package of this module but text.
package notation

import (
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
