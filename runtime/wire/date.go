package wire

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Date is a day without a time: days since 1970-01-01, in the years 0000 to 9999. Its
// zero value is 1970-01-01. Dates compare with < and ==. pgx reads and writes it as date.
type Date int32

const (
	firstDay   = -719528 // 0000-01-01
	lastDay    = 2932896 // 9999-12-31
	daySeconds = 86400
)

const notADate = "must be a date: YYYY-MM-DD"

// ParseDate reads YYYY-MM-DD; the day must exist.
func ParseDate(text string) (Date, error) {
	d, reason := parseDate([]byte(text))
	if reason != "" {
		return 0, errors.New("idem: the text " + reason)
	}
	return d, nil
}

// String returns YYYY-MM-DD.
func (d Date) String() string { return string(d.append(nil)) }

// Time returns the start of the day in UTC.
func (d Date) Time() time.Time { return time.Unix(int64(d)*daySeconds, 0).UTC() }

// MarshalText returns the text of String; it never fails.
func (d Date) MarshalText() ([]byte, error) { return d.append(nil), nil }

// UnmarshalText reads what [ParseDate] reads.
func (d *Date) UnmarshalText(text []byte) error {
	v, err := ParseDate(string(text))
	if err == nil {
		*d = v
	}
	return err
}

// DateValue lets pgx write the date.
func (d Date) DateValue() (pgtype.Date, error) { return pgtype.Date{Time: d.Time(), Valid: true}, nil }

// TextValue lets pgx write the date as text where it does not know the parameter's type;
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
	days := dayOf(v.Time.Year(), int(v.Time.Month()), v.Time.Day())
	if v.InfinityModifier != pgtype.Finite || days < firstDay || days > lastDay {
		return errors.New("idem: cannot scan infinity or a year outside 0000 to 9999 into a Date")
	}
	*d = Date(days)
	return nil
}

func (d Date) append(b []byte) []byte { return d.Time().AppendFormat(b, time.DateOnly) }

func parseDate(text []byte) (Date, string) {
	days, ok := parseDay(text)
	if !ok || len(text) != 10 {
		return 0, notADate
	}
	return Date(days), ""
}

// parseDay reads the YYYY-MM-DD at the start of text as days since 1970-01-01.
func parseDay(text []byte) (days int64, ok bool) {
	if len(text) < 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	century, year, m, d := pair(text), pair(text[2:]), pair(text[5:]), pair(text[8:])
	y := century*100 + year
	if century < 0 || year < 0 || m < 1 || m > 12 || d < 1 || d > daysOf(y, m) {
		return 0, false
	}
	return dayOf(y, m, d), true
}

// pair reads two digits; it returns a negative number if they are none.
func pair(text []byte) int {
	tens, ones := text[0]-'0', text[1]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return int(tens)*10 + int(ones)
}

// daysOf returns the number of days of a month.
func daysOf(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return int(monthDays[month-1])
}

var monthDays = [12]uint8{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// dayOf counts the days from 1970-01-01 in the Gregorian calendar. It counts years from
// March, so that the leap day comes last.
func dayOf(year, month, day int) int64 {
	month -= 3
	if month < 0 {
		month += 12
		year--
	}
	era := floorDiv(year, 400)
	year -= era * 400
	ofYear := (153*month+2)/5 + day - 1
	return int64(era*146097 + year*365 + year/4 - year/100 + ofYear - 719468)
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}
