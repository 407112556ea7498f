package oracle

import (
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// An instant is microseconds since 1970 in UTC, a wall clock reading microseconds since
// 1970 without zone, a day days since 1970.
type (
	instant int64
	wall    int64
	day     int64
)

const microsPerDay = 24 * 60 * 60 * 1_000_000

var (
	errNotTime  = errors.New("not an RFC 3339 timestamp with zone")
	errNotLocal = errors.New("not an RFC 3339 timestamp without zone")
	errNotDate  = errors.New("not a date YYYY-MM-DD")
	errEpoch    = errors.New("outside 1973-03-03 up to 2200: the unit is wrong")

	epochMin = time.Date(1973, 3, 3, 0, 0, 0, 0, time.UTC)
	epochEnd = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

func (t instant) time() time.Time { return time.UnixMicro(int64(t)).UTC() }
func (t wall) time() time.Time    { return time.UnixMicro(int64(t)).UTC() }
func (d day) time() time.Time     { return time.UnixMicro(int64(d) * microsPerDay).UTC() }

// parseInstant reads RFC 3339 with zone, perhaps without seconds and the colon of the zone, in the
// years 0000 to 9999 of UTC; digits beyond microseconds are cut. RFC 3339 allows T and Z in lower
// case.
func parseInstant(text string) (instant, error) {
	i := strings.LastIndexAny(text, "Zz+-")
	if i < len("2006-01-02T15:04") {
		return 0, errNotTime
	}
	zone := text[i:]
	w, err := parseWall(text[:i])
	switch {
	case err != nil:
		return 0, errNotTime
	case zone == "Z" || zone == "z":
		return instant(w), nil
	}
	hour, minute, ok := strings.Cut(zone[1:], ":")
	if !ok && len(hour) == 4 {
		hour, minute, ok = hour[:2], hour[2:], true
	}
	h, okH := twoDigits(hour, 23)
	m, okM := twoDigits(minute, 59)
	if !ok || !okH || !okM || zone[0] != '+' && zone[0] != '-' {
		return 0, errNotTime
	}
	offset := int64(h*60+m) * 60_000_000
	if zone[0] == '-' {
		offset = -offset
	}
	in := instant(int64(w) - offset)
	if y := in.time().Year(); y < 0 || y > 9999 {
		return 0, errNotTime
	}
	return in, nil
}

// parseWall reads RFC 3339 without zone, perhaps without seconds; digits beyond microseconds are
// cut.
func parseWall(text string) (wall, error) {
	date, clock, ok := strings.Cut(strings.Replace(text, "t", "T", 1), "T")
	d, err := parseDay(date)
	if len(clock) == len("15:04") {
		clock += ":00"
	}
	if !ok || err != nil || len(clock) < len("15:04:05") || clock[2] != ':' || clock[5] != ':' {
		return 0, errNotLocal
	}
	h, okH := twoDigits(clock[:2], 23)
	m, okM := twoDigits(clock[3:5], 59)
	s, okS := twoDigits(clock[6:8], 59)
	if !okH || !okM || !okS {
		return 0, errNotLocal
	}
	micros := int64(0)
	if frac := clock[8:]; frac != "" {
		if len(frac) < 2 || frac[0] != '.' || strings.Trim(frac[1:], "0123456789") != "" {
			return 0, errNotLocal
		}
		for _, c := range (frac[1:] + "000000")[:6] {
			micros = micros*10 + int64(c-'0')
		}
	}
	return wall(int64(d)*microsPerDay + int64((h*60+m)*60+s)*1_000_000 + micros), nil
}

func parseDay(text string) (day, error) {
	if len(text) != len("2006-01-02") || text[4] != '-' || text[7] != '-' {
		return 0, errNotDate
	}
	century, okC := twoDigits(text[:2], 99)
	year, okY := twoDigits(text[2:4], 99)
	month, okM := twoDigits(text[5:7], 12)
	dom, okD := twoDigits(text[8:], 31)
	if !okC || !okY || !okM || !okD {
		return 0, errNotDate
	}
	t := time.Date(century*100+year, time.Month(month), dom, 0, 0, 0, 0, time.UTC)
	if t.Day() != dom || int(t.Month()) != month {
		return 0, errNotDate
	}
	return day(t.Unix() / (24 * 60 * 60)), nil
}

func twoDigits(text string, largest int) (int, bool) {
	if len(text) != 2 || text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9' {
		return 0, false
	}
	n := int(text[0]-'0')*10 + int(text[1]-'0')
	return n, n <= largest
}

// fromEpoch turns seconds since 1970 into an instant; what is below a microsecond is cut towards
// the past.
func fromEpoch(t model.FieldType, seconds *big.Rat) (instant, error) {
	micros := new(big.Rat).Mul(seconds, big.NewRat(1_000_000, 1))
	n := new(big.Int).Div(micros.Num(), micros.Denom()) // rounds down: the denominator is positive
	first, end := epochMin, epochEnd
	if t.AnyTime {
		first, end = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if n.Cmp(big.NewInt(first.UnixMicro())) < 0 || n.Cmp(big.NewInt(end.UnixMicro())) >= 0 {
		return 0, errEpoch
	}
	return instant(n.Int64()), nil
}

// fromEpochDays refuses what YYYY-MM-DD cannot write.
func fromEpochDays(n int64) (day, error) {
	if n < -719528 || n > 2932896 { // 0000-01-01, 9999-12-31
		return 0, errNotDate
	}
	return day(n), nil
}
