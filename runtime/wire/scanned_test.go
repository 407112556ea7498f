package wire

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Values of the database that a type cannot hold are refused, and those at its bounds are not.
func TestWhatIsScanned(t *testing.T) {
	day := func(year int, month time.Month, day int) pgtype.Date {
		return pgtype.Date{Time: time.Date(year, month, day, 0, 0, 0, 0, time.UTC), Valid: true}
	}
	at := func(d pgtype.Date, add time.Duration) pgtype.Timestamp {
		return pgtype.Timestamp{Time: d.Time.Add(add), Valid: true}
	}
	const null, infinite = "idem: cannot scan NULL into a", "idem: cannot scan infinity or a year outside 0000 to 9999 into a"
	for want, v := range map[string]pgtype.Date{
		"0000-01-01": day(0, 1, 1), "9999-12-31": day(9999, 12, 31), "2026-11-28": day(2026, 11, 28),
		null + " Date; scan into a *Date": {}, infinite + " Date": {Valid: true, InfinityModifier: pgtype.Infinity},
	} {
		var d Date
		if got := scanned(d.ScanDate(v), &d); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for _, v := range []pgtype.Date{day(-1, 12, 31), day(10000, 1, 1)} {
		if d := Date(5); d.ScanDate(v) == nil || d != 5 {
			t.Errorf("%v is scanned as %v", v, d)
		}
	}
	for want, v := range map[string]pgtype.Timestamp{
		"0000-01-01T00:00:00": at(day(0, 1, 1), 0), "9999-12-31T23:59:59.999999": at(day(10000, 1, 1), -time.Microsecond),
		null + " LocalTime; scan into a *LocalTime": {}, infinite + " LocalTime": {Valid: true, InfinityModifier: pgtype.NegativeInfinity},
	} {
		var l LocalTime
		if got := scanned(l.ScanTimestamp(v), &l); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for _, v := range []pgtype.Timestamp{at(day(0, 1, 1), -time.Microsecond), at(day(10000, 1, 1), 0)} {
		if l := LocalTime(5); l.ScanTimestamp(v) == nil || l != 5 {
			t.Errorf("%v is scanned as %v", v, l)
		}
	}
	var u UUID
	if got := scanned(u.ScanUUID(pgtype.UUID{}), &u); got != null+" UUID; scan into a *UUID" {
		t.Error(got)
	}
	if got := scanned(u.ScanUUID(pgtype.UUID{Bytes: [16]byte{15: 1}, Valid: true}), &u); got != "00000000-0000-0000-0000-000000000001" {
		t.Error(got)
	}
}

func scanned(err error, v fmt.Stringer) string {
	if err != nil {
		return err.Error()
	}
	return v.String()
}

// Where pgx does not know a parameter's type, it writes the text of a value.
func TestTextsOfValues(t *testing.T) {
	d, errDate := Date(1).TextValue()
	l, errTime := LocalTime(1_500_000).TextValue()
	if got := fmt.Sprint(d, errDate, l, errTime); got != "{1970-01-02 true} <nil> {1970-01-01T00:00:01.5 true} <nil>" {
		t.Error(got)
	}
}
