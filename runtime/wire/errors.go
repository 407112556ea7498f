package wire

import (
	"strconv"
	"unicode/utf8"
)

// Reasons are the first words of a dead letter's reason: stable, one per class.
const (
	ReasonDecode      = "decode"       // payload, header or record key does not decode
	ReasonKey         = "key"          // a part of the idempotency key is missing, null or empty
	ReasonFit         = "fit"          // a value does not fit its column
	ReasonConflict    = "conflict"     // known key, different content
	ReasonUnknownType = "unknown_type" // an event type that the spec does not name
	ReasonTombstone   = "tombstone"    // no value, and no tombstone event
	ReasonTooLarge    = "too_large"    // longer than limits.max_payload
	ReasonDatabase    = "database"     // rejected by the database
	ReasonHandler     = "handler"      // rejected by the service's Go code
	ReasonEffect      = "effect"       // its effect failed
	ReasonResult      = "result"       // the result of its effect cannot be decoded
	ReasonInterrupted = "interrupted"  // the outcome of its effect is unknown
	ReasonParked      = "parked"       // it is parked behind a dead letter of its record key
)

// DecodeError says why a record cannot be decoded into an event. It contains no value of the
// record, except an event type that is [Unknown], an unknown enum number, and, if a header is
// missing, the names of the others.
type DecodeError struct {
	Class  string // one of the Reason constants; "" means ReasonDecode
	Event  string // Go name of the event; "" before the event is known
	Path   string // which value: "items[1].price", "header tenant", "record key.id"
	At     int    // offset in the payload in bytes; 0 for other sources, and if it was unpacked
	Reason string // "must be an integer"
}

func (e *DecodeError) Error() string {
	class := e.Class
	if class == "" {
		class = ReasonDecode
	}
	text := class + ": "
	if e.Event != "" {
		text += e.Event + ": "
	}
	if e.Path != "" {
		text += e.Path + " "
	}
	text += e.Reason
	if e.At > 0 {
		text += " (at byte " + strconv.Itoa(e.At) + ")"
	}
	return text
}

// ConflictError says that an event has the key of an earlier event but different content: a
// mistake of the producer, never a duplicate.
type ConflictError struct {
	Event string
	Key   Key
}

func (e *ConflictError) Error() string {
	return ReasonConflict + ": " + e.Event + ": the key was used before by an event with different content"
}

// Unknown returns the error of generated code for an event type that the spec neither names nor
// ignores, if skip does not list unknown_type. The error names the type: a type is not payload,
// and operators cannot act without it. The text comes from the producer and may contain anything,
// so it is truncated and escaped.
func Unknown[T string | []byte](eventType T) error {
	return &DecodeError{Class: ReasonUnknownType, Reason: "the event type " + quoteType(string(eventType)) + " is not in the spec"}
}

// typeBytes is how many bytes of an unknown event type are quoted.
const typeBytes = 64

// quoteType is the start of an event type, in quotes and in printable ASCII.
func quoteType(text string) string {
	if len(text) <= typeBytes {
		return strconv.QuoteToASCII(text)
	}
	cut := typeBytes
	for cut > typeBytes-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.QuoteToASCII(text[:cut]) + "..."
}

// NoTombstone returns the error of generated code for a record without a value, if skip does not
// list tombstone.
func NoTombstone() error {
	return &DecodeError{Class: ReasonTombstone, Reason: "the record has no value, and the topic has no tombstone event"}
}

// OnlyTombstones returns the error of generated code for a record with a value, if the topic has
// no event but a tombstone.
func OnlyTombstones() error {
	return &DecodeError{Class: ReasonUnknownType, Reason: "the record has a value, and the topic has only a tombstone event"}
}
