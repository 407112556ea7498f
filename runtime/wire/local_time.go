package wire

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// LocalTime is a day and a time of day without a zone: microseconds since
// 1970-01-01T00:00:00 on the same clock, in the years 0000 to 9999. LocalTimes compare
// with < and ==. pgx reads and writes it as timestamp.
type LocalTime int64

const (
	firstMicro = firstDay * daySeconds * 1e6
	lastMicro  = (lastDay+1)*daySeconds*1e6 - 1
)

const notALocalTime = "must be a local time: YYYY-MM-DDThh:mm:ss without a zone"

// ParseLocalTime reads YYYY-MM-DDThh:mm:ss with any number of fractional digits, of which
// those beyond microseconds are cut. A zone is an error.
func ParseLocalTime(text string) (LocalTime, error) {
	t, reason := parseLocalTime([]byte(text))
	if reason != "" {
		return 0, errors.New("idem: the text " + reason)
	}
	return t, nil
}

// String returns YYYY-MM-DDThh:mm:ss and, if they are not zero, up to six fractional digits.
func (t LocalTime) String() string { return string(t.append(nil)) }

// MarshalText returns the text of String; it never fails.
func (t LocalTime) MarshalText() ([]byte, error) { return t.append(nil), nil }

// UnmarshalText reads what [ParseLocalTime] reads.
func (t *LocalTime) UnmarshalText(text []byte) error {
	v, err := ParseLocalTime(string(text))
	if err == nil {
		*t = v
	}
	return err
}

// TimestampValue lets pgx write the time.
func (t LocalTime) TimestampValue() (pgtype.Timestamp, error) {
	return pgtype.Timestamp{Time: time.UnixMicro(int64(t)).UTC(), Valid: true}, nil
}

// TextValue lets pgx write the time as text where it does not know the parameter's type;
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
	if v.InfinityModifier != pgtype.Finite || micro < firstMicro || micro > lastMicro {
		return errors.New("idem: cannot scan infinity or a year outside 0000 to 9999 into a LocalTime")
	}
	*t = LocalTime(micro)
	return nil
}

func (t LocalTime) append(b []byte) []byte {
	return time.UnixMicro(int64(t)).UTC().AppendFormat(b, "2006-01-02T15:04:05.999999")
}

func parseLocalTime(text []byte) (LocalTime, string) {
	micro, end, ok := parseClock(text)
	if !ok || end != len(text) {
		return 0, notALocalTime
	}
	return LocalTime(micro), ""
}

// parseClock reads the YYYY-MM-DDThh:mm:ss[.digits] at the start of text as microseconds
// since 1970-01-01T00:00:00, and tells where it ends.
func parseClock(text []byte) (micro int64, end int, ok bool) {
	day, ok := parseDay(text)
	if !ok || len(text) < 19 || text[10]|0x20 != 't' || text[13] != ':' || text[16] != ':' {
		return 0, 0, false
	}
	h, m, s := pair(text[11:]), pair(text[14:]), pair(text[17:])
	if uint(h) > 23 || uint(m) > 59 || uint(s) > 59 { // -1 is above them all
		return 0, 0, false
	}
	micro = (day*daySeconds + int64(h*3600+m*60+s)) * 1e6
	end = 19
	if end == len(text) || text[end] != '.' {
		return micro, end, true
	}
	unit := int64(1e6)
	for end++; end < len(text) && text[end]-'0' <= 9; end++ {
		unit /= 10 // 0 beyond microseconds
		micro += unit * int64(text[end]-'0')
	}
	return micro, end, end > 20
}
