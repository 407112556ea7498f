package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"time"
	"unicode/utf8"
)

// Text is a value that is not JSON: a header, or the key or value of a record. Each
// method parses the whole text, which is UTF-8, by one type; the errors stick in the
// scanner that the Text came from. The zero Text stands for an absent value: methods
// return zero values, and nil for Opt methods.
type Text struct {
	s    *Scanner
	raw  []byte
	from string // "header ", "record key", "record value"
	name string // of the header
}

// Header returns the value of the only header called name. A missing, repeated or null
// header is an error.
func (s *Scanner) Header(m *Message, name string) Text {
	raw, err := m.Header(name)
	if err != nil {
		s.failSource("header "+name, err.(*DecodeError).Reason)
	}
	if s.err != nil {
		return Text{}
	}
	return Text{s, raw, "header ", name}
}

// OptHeader returns the value of the only header called name, and false if there is none
// or it is null. A repeated header is an error.
func (s *Scanner) OptHeader(m *Message, name string) (Text, bool) {
	raw, n := m.find(name)
	if raw == nil && n < 2 {
		return Text{}, false
	}
	t := s.Header(m, name)
	return t, t.s != nil
}

// DefaultHeader is OptHeader for a field with a default, which stands for an absent header
// only: a null one is an error.
func (s *Scanner) DefaultHeader(m *Message, name string) (Text, bool) {
	if _, n := m.find(name); n == 0 {
		return Text{}, false
	}
	t := s.Header(m, name)
	return t, t.s != nil
}

// RecordKey returns the whole key of the record. A missing or empty key is an error.
func (s *Scanner) RecordKey(m *Message) Text {
	switch {
	case m.Key == nil:
		s.failSource("record key", "is missing")
	case len(m.Key) == 0:
		s.failSource("record key", "is empty")
	}
	if s.err != nil {
		return Text{}
	}
	return Text{s, m.Key, "record key", ""}
}

// RecordValue returns the whole value of the record. A missing value is an error.
func (s *Scanner) RecordValue(m *Message) Text {
	if m.Value == nil {
		s.failSource("record value", "is missing")
	}
	if s.err != nil {
		return Text{}
	}
	return Text{s, m.Value, "record value", ""}
}

// RecordTime returns the record's timestamp in UTC, cut to microseconds. A record without
// one is an error, and so is a year outside 0000 to 9999.
func (s *Scanner) RecordTime(m *Message) time.Time {
	if m.Time.IsZero() {
		s.failSource("record timestamp", "is missing")
	} else if y := m.Time.UTC().Year(); y < 0 || y > 9999 {
		s.failSource("record timestamp", outOfRange)
	}
	if s.err != nil {
		return time.Time{}
	}
	return time.UnixMicro(m.Time.UnixMicro()).UTC()
}

// refused makes reason, if there is one, the scanner's error.
func (t Text) refused(reason string) bool {
	if reason != "" {
		t.s.failSource(t.from+t.name, reason)
	}
	return reason != ""
}

// String returns the text.
func (t Text) String() string {
	if t.s == nil || t.refused(textFlaw(t.raw)) {
		return ""
	}
	return borrow(t.own())
}

// textFlaw says why raw cannot be stored as text, "" if it can.
func textFlaw(raw []byte) string {
	switch {
	case !utf8.Valid(raw):
		return notUTF8
	case bytes.IndexByte(raw, 0) >= 0:
		return holdsNUL
	}
	return ""
}

func (t Text) own() []byte {
	if t.s.owned {
		return bytes.Clone(t.raw)
	}
	return t.raw
}

// Raw returns the bytes as they are, whatever they hold: what the record's key or value
// is as bytes. It is never nil, unless the Text is absent.
func (t Text) Raw() []byte {
	if t.s == nil {
		return nil
	}
	return t.own()
}

// UUID reads a UUID in its 36-character form, in any case.
func (t Text) UUID() UUID { return parsed(t, parseUUID) }

// Bool reads true or false.
func (t Text) Bool() bool { return parsed(t, parseBool) }

// Int32 reads what [Scanner.Int32] reads in a string.
func (t Text) Int32() int32 {
	return int32(parsed(t, func(raw []byte) (int64, string) { return parseInt(raw, math.MinInt32, math.MaxInt32) }))
}

// Int64 reads what [Scanner.Int64] reads in a string.
func (t Text) Int64() int64 {
	return parsed(t, func(raw []byte) (int64, string) { return parseInt(raw, math.MinInt64, math.MaxInt64) })
}

// Float64 reads a number as JSON writes it.
func (t Text) Float64() float64 { return parsed(t, parseNumber) }

// Time reads an RFC 3339 time with a zone, as [Scanner.Time] does.
func (t Text) Time() time.Time { return parsed(t, parseTime) }

// EpochS reads seconds since 1970, as [Scanner.EpochS] does.
func (t Text) EpochS() time.Time {
	return parsed(t, func(raw []byte) (time.Time, string) { return parseEpoch(raw, 1) })
}

// EpochMS is EpochS with milliseconds.
func (t Text) EpochMS() time.Time {
	return parsed(t, func(raw []byte) (time.Time, string) { return parseEpoch(raw, 1e3) })
}

// EpochUS is EpochS with microseconds.
func (t Text) EpochUS() time.Time {
	return parsed(t, func(raw []byte) (time.Time, string) { return parseEpoch(raw, 1e6) })
}

// EpochNS is EpochS with nanoseconds, cut to microseconds.
func (t Text) EpochNS() time.Time {
	return parsed(t, func(raw []byte) (time.Time, string) { return parseEpoch(raw, 1e9) })
}

// LocalTime reads an RFC 3339 time without a zone.
func (t Text) LocalTime() LocalTime { return parsed(t, parseLocalTime) }

// Date reads YYYY-MM-DD.
func (t Text) Date() Date { return parsed(t, parseDate) }

// EpochDays reads days since 1970-01-01.
func (t Text) EpochDays() Date {
	return Date(parsed(t, func(raw []byte) (int64, string) { return parseInt(raw, firstDay, lastDay) }))
}

// Decimal reads a number without rounding, as [Scanner.Decimal] does.
func (t Text) Decimal() Decimal {
	if t.s == nil {
		return Decimal{}
	}
	d, reason := t.s.decimalOf(t.raw)
	if t.refused(reason) {
		return Decimal{}
	}
	if t.s.owned {
		d.text = string(append([]byte(nil), d.text...))
	}
	return d
}

// Bytes reads standard base64 with padding.
func (t Text) Bytes() []byte {
	if t.s == nil {
		return nil
	}
	data, reason := t.s.decodeBytes(t.raw)
	t.refused(reason)
	return data
}

// Enum returns the element of texts that equals the text.
func (t Text) Enum(texts []string) string {
	if t.s == nil {
		return ""
	}
	text, reason := matchEnum(t.raw, texts)
	t.refused(reason)
	return text
}

// JSON reads the text as one JSON value of any kind but null.
func (t Text) JSON() json.RawMessage {
	if t.s == nil {
		return nil
	}
	s := Scanner{MaxDepth: t.s.MaxDepth, data: t.own()}
	raw := s.JSON()
	s.end()
	if s.err != nil {
		t.refused(s.err.Reason)
		return nil
	}
	return raw
}

// parsed reads t, if it is there, by parse.
func parsed[T any](t Text, parse func([]byte) (T, string)) T {
	var zero T
	if t.s == nil || t.s.err != nil {
		return zero
	}
	v, reason := parse(t.raw)
	if t.refused(reason) {
		return zero
	}
	return v
}

func parseBool(raw []byte) (bool, string) {
	switch string(raw) {
	case "true":
		return true, ""
	case "false":
		return false, ""
	}
	return false, "must be true or false"
}

func parseNumber(raw []byte) (float64, string) {
	if end, _ := scanNumber(raw, 0); end < 0 || end != len(raw) {
		return 0, notNumber
	}
	return parseFloat(raw)
}

func parseEpoch(raw []byte, perSecond int64) (time.Time, string) {
	n, reason := parseInt(raw, math.MinInt64, math.MaxInt64)
	if reason != "" {
		return time.Time{}, reason
	}
	return epochTime(n, perSecond)
}
