package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// Text is a value that a record contains as text: a header, its key or its value. Each method
// parses the whole text, which must be UTF-8, as one type. Errors are recorded in the [Reader]
// that the Text came from. The zero Text is an absent value: its methods return zero values.
type Text struct {
	r    *Reader
	raw  []byte
	from string // "header ", "segment ", "record key", "record value"
	name string // of the header or segment
}

// Refuse records reason as an error in the reader, unless reason is "". It reports whether it did.
func (t Text) Refuse(reason string) bool {
	if reason != "" {
		t.r.Fail(t.from+t.name, 0, reason)
	}
	return reason != ""
}

// String returns the text.
func (t Text) String() string {
	if t.r == nil || t.Refuse(notation.TextFlaw(t.raw)) {
		return ""
	}
	return notation.Borrow(t.Raw())
}

// Raw returns the bytes unchanged, whatever they contain. It returns nil only if the Text is
// absent.
func (t Text) Raw() []byte {
	switch {
	case t.r == nil:
		return nil
	case t.r.owned:
		return bytes.Clone(t.raw)
	}
	return t.raw
}

// UUID parses a UUID in its 36-character form, in upper or lower case.
func (t Text) UUID() UUID { return UUID(parsed(t, notation.UUID)) }

// Bool parses true or false.
func (t Text) Bool() bool { return parsed(t, notation.Bool) }

// Int32 parses the digits of a 32-bit integer. A fraction, an exponent, a leading zero and an
// overflow are errors.
func (t Text) Int32() int32 { return int32(t.integer(math.MinInt32, math.MaxInt32)) }

// Int64 is Int32 with 64 bits.
func (t Text) Int64() int64 { return t.integer(math.MinInt64, math.MaxInt64) }

func (t Text) integer(lo, hi int64) int64 {
	return parsed(t, func(raw []byte) (int64, string) { return notation.Int(raw, lo, hi) })
}

// BinaryInt32 reads a big-endian number of 4 bytes, as Kafka's IntegerSerializer writes it.
func (t Text) BinaryInt32() int32 { return int32(binary.BigEndian.Uint32(t.bytes(4))) }

// BinaryInt64 reads a big-endian number of 8 bytes, as Kafka's LongSerializer writes it.
func (t Text) BinaryInt64() int64 { return int64(binary.BigEndian.Uint64(t.bytes(8))) }

// BinaryUUID reads the 16 bytes of a UUID.
func (t Text) BinaryUUID() UUID { return UUID(t.bytes(16)) }

// bytes returns the bytes, which must be n; if they are not, n zeros.
func (t Text) bytes(n int) []byte {
	if t.r == nil || len(t.raw) != n && t.Refuse(fmt.Sprintf("has %d bytes, not %d", len(t.raw), n)) {
		return make([]byte, n)
	}
	return t.raw
}

// Float64 parses a number in JSON syntax.
func (t Text) Float64() float64 { return parsed(t, notation.FloatText) }

// Time parses an RFC 3339 time with a zone and returns it in UTC, truncated to microseconds.
func (t Text) Time() time.Time { return parsed(t, notation.Time) }

// Epoch parses the number of units since 1970, of seconds perhaps with a fraction. A time outside
// 1973-03-03 to 2200 is an error: the producer most likely sends another unit. The time is
// truncated to microseconds.
func (t Text) Epoch(unit time.Duration) time.Time { return t.epoch(unit, false) }

// AnyEpoch is [Text.Epoch] for times in the years 0000 to 9999.
func (t Text) AnyEpoch(unit time.Duration) time.Time { return t.epoch(unit, true) }

func (t Text) epoch(unit time.Duration, anyTime bool) time.Time {
	return parsed(t, func(raw []byte) (time.Time, string) { return notation.Epoch(raw, unit, anyTime) })
}

// LocalTime parses an RFC 3339 time without a zone.
func (t Text) LocalTime() LocalTime { return LocalTime(parsed(t, notation.LocalTime)) }

// Date parses YYYY-MM-DD.
func (t Text) Date() Date { return Date(parsed(t, notation.Date)) }

// EpochDays parses the number of days since 1970-01-01, in the years 0000 to 9999.
func (t Text) EpochDays() Date { return Date(t.integer(notation.FirstDay, notation.LastDay)) }

// Decimal parses a number without rounding.
func (t Text) Decimal() Decimal {
	if t.r == nil {
		return Decimal{}
	}
	plain, grown, reason := notation.PlainDecimal(t.raw, t.r.bytes)
	t.r.bytes = grown
	if t.Refuse(reason) {
		return Decimal{}
	}
	if t.r.owned {
		plain = bytes.Clone(plain)
	}
	return Decimal{notation.Borrow(plain)}
}

// Bytes decodes standard base64 with padding.
func (t Text) Bytes() []byte {
	if t.r == nil {
		return nil
	}
	data, grown, reason := notation.Bytes(t.r.bytes, t.raw)
	t.r.bytes = grown
	t.Refuse(reason)
	return data
}

// EnumText returns the element of texts that equals t.
func EnumText[T ~string](t Text, texts []T) T {
	if p := OptEnumText(t, texts); p != nil {
		return *p
	}
	return ""
}

// OptEnumText is like [EnumText] but returns nil if t is absent.
func OptEnumText[T ~string](t Text, texts []T) *T {
	if t.r == nil {
		return nil
	}
	i, reason := notation.Enum(t.raw, texts)
	if t.Refuse(reason) {
		return nil
	}
	return KeepEnum(t.r, texts, i)
}

// read reads the text of a value that no record holds, by parse.
func read[T any](text string, parse func([]byte) (T, string)) (v T, err error) {
	v, reason := parse([]byte(text))
	if reason != "" {
		err = errors.New("idem: the text " + reason)
	}
	return v, err
}

// unmarshal sets v to what parse reads, and leaves it as it is if there is an error.
func unmarshal[T any](v *T, text []byte, parse func(string) (T, error)) error {
	got, err := parse(string(text))
	if err == nil {
		*v = got
	}
	return err
}

// parsed reads t, if it is there, by parse.
func parsed[T any](t Text, parse func([]byte) (T, string)) T {
	var zero T
	if t.r == nil || t.r.err != nil {
		return zero
	}
	v, reason := parse(t.raw)
	if t.Refuse(reason) {
		return zero
	}
	return v
}
