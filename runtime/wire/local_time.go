package wire

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// LocalTime is a day and a time of day without a zone: microseconds since
// 1970-01-01T00:00:00 on the same clock, in the years 0000 to 9999. LocalTimes compare
// with < and ==. pgx reads and writes it as timestamp.
type LocalTime int64

// ParseLocalTime reads YYYY-MM-DDThh:mm:ss with any number of fractional digits;
// those beyond microseconds are truncated. A zone is an error.
func ParseLocalTime(text string) (LocalTime, error) {
	micro, err := read(text, notation.LocalTime)
	return LocalTime(micro), err
}

// String returns YYYY-MM-DDThh:mm:ss and, if they are not zero, up to six fractional digits.
func (t LocalTime) String() string { return string(t.append(nil)) }

// MarshalText returns the text of String; it never fails.
func (t LocalTime) MarshalText() ([]byte, error) { return t.append(nil), nil }

// UnmarshalText reads what [ParseLocalTime] reads.
func (t *LocalTime) UnmarshalText(text []byte) error { return unmarshal(t, text, ParseLocalTime) }

// TimestampValue lets pgx write the time.
func (t LocalTime) TimestampValue() (pgtype.Timestamp, error) {
	return pgtype.Timestamp{Time: time.UnixMicro(int64(t)).UTC(), Valid: true}, nil
}

// TextValue lets pgx write the time as text where it does not know the parameter's type. Otherwise
// it would write the number of microseconds.
func (t LocalTime) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: t.String(), Valid: true}, nil
}

// ScanTimestamp lets pgx read into the time. NULL, infinity and years outside 0000 to
// 9999 are errors.
func (t *LocalTime) ScanTimestamp(v pgtype.Timestamp) error {
	if !v.Valid {
		return errors.New("idem: cannot scan NULL into a LocalTime; scan into a *LocalTime")
	}
	micro := v.Time.UnixMicro()
	if v.InfinityModifier != pgtype.Finite || micro < notation.FirstMicro || micro > notation.LastMicro {
		return errors.New("idem: cannot scan infinity or a year outside 0000 to 9999 into a LocalTime")
	}
	*t = LocalTime(micro)
	return nil
}

func (t LocalTime) append(b []byte) []byte {
	return time.UnixMicro(int64(t)).UTC().AppendFormat(b, "2006-01-02T15:04:05.999999")
}
