package model

import "time"

// Notation is how values of a type are written where there are several ways. What a value is,
// its Kind, does not depend on it: only code that reads records does, and what writes them for
// tests.
type Notation int

// The notations of a Timestamp, of a LocalTimestamp, of a Date and of a Decimal.
const (
	Usual        Notation = iota // of the format; in JSON and in text RFC 3339 or YYYY-MM-DD
	EpochSeconds                 // a number of seconds since 1970
	EpochMillis
	EpochMicros
	EpochNanos
	EpochDays // a whole number of days since 1970-01-01
	Array     // a JSON array of year, month, day and so on, of a LocalTimestamp or a Date
	Unscaled  // base64 of an integer, the digits of a Decimal; Scale of them are after the point
	WithScale // an object with such a value and its scale
)

// Unit is what a number counts; 0 for what is no number.
func (n Notation) Unit() time.Duration {
	return [...]time.Duration{0, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond, 24 * time.Hour, 0, 0, 0}[n]
}

// OfDocuments reports whether values are written in JSON only, and in no header or other text.
func (n Notation) OfDocuments() bool { return n >= Array }
