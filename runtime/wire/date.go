package wire

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// Date is a day without a time: days since 1970-01-01, in the years 0000 to 9999. Its
// zero value is 1970-01-01. Dates compare with < and ==. pgx reads and writes it as date.
type Date int32

// ParseDate reads YYYY-MM-DD; the day must exist.
func ParseDate(text string) (Date, error) {
	days, err := read(text, notation.Date)
	return Date(days), err
}

// String returns YYYY-MM-DD.
func (d Date) String() string { return string(d.append(nil)) }

// Time returns the start of the day in UTC.
func (d Date) Time() time.Time { return time.Unix(int64(d)*notation.DaySeconds, 0).UTC() }

// MarshalText returns the text of String; it never fails.
func (d Date) MarshalText() ([]byte, error) { return d.append(nil), nil }

// UnmarshalText reads what [ParseDate] reads.
func (d *Date) UnmarshalText(text []byte) error { return unmarshal(d, text, ParseDate) }

// DateValue lets pgx write the date.
func (d Date) DateValue() (pgtype.Date, error) { return pgtype.Date{Time: d.Time(), Valid: true}, nil }

// TextValue lets pgx write the date as text where it does not know the parameter's type. Otherwise
// it would write the number of days.
func (d Date) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: d.String(), Valid: true}, nil
}

// ScanDate lets pgx read into the date. NULL, infinity and years outside 0000 to 9999 are
// errors.
func (d *Date) ScanDate(v pgtype.Date) error {
	if !v.Valid {
		return errors.New("idem: cannot scan NULL into a Date; scan into a *Date")
	}
	days := notation.DayOf(v.Time.Year(), int(v.Time.Month()), v.Time.Day())
	if v.InfinityModifier != pgtype.Finite || days < notation.FirstDay || days > notation.LastDay {
		return errors.New("idem: cannot scan infinity or a year outside 0000 to 9999 into a Date")
	}
	*d = Date(days)
	return nil
}

func (d Date) append(b []byte) []byte { return d.Time().AppendFormat(b, time.DateOnly) }
