package strictjson

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Times as Jackson and Debezium write them are the times that were meant; of what is not one, a
// reason says what it should be.
func TestTimesOfJavaAreRead(t *testing.T) {
	moment := func(read func(s *Scanner) time.Time) func(*Scanner) string {
		return func(s *Scanner) string { return read(s).Format("2006-01-02T15:04:05.999999Z07:00") }
	}
	text := moment((*Scanner).Time)
	instant := moment(func(s *Scanner) time.Time { return s.Epoch(time.Second) })
	anySecond := moment(func(s *Scanner) time.Time { return s.AnyEpoch(time.Second) })
	millis := moment(func(s *Scanner) time.Time { return s.Epoch(time.Millisecond) })
	anyMilli := moment(func(s *Scanner) time.Time { return s.AnyEpoch(time.Millisecond) })
	anyMicro := moment(func(s *Scanner) time.Time { return s.AnyEpoch(time.Microsecond) })
	anyNano := moment(func(s *Scanner) time.Time { return s.AnyEpoch(time.Nanosecond) })
	local := func(s *Scanner) string { return s.LocalTime().String() }
	parts := func(s *Scanner) string { return s.LocalTimeArray().String() }
	day := func(s *Scanner) string { return s.DateArray().String() }
	const notArray = "decode: E: the unpacked payload must be an array of year, month, day, hour and minute, perhaps second, perhaps nanosecond"
	for _, c := range []struct {
		read        func(*Scanner) string
		value, want string
	}{
		{instant, "1787204704.783706186", "2026-08-20T05:45:04.783706Z"},
		{instant, "1787204704.000000000", "2026-08-20T05:45:04Z"},
		{instant, "1787204704", "2026-08-20T05:45:04Z"},
		{anySecond, "-274982400.000000001", "1961-04-15T07:59:59.999999Z"},
		{anySecond, "-0.5", "1969-12-31T23:59:59.5Z"},
		{anyMilli, "-274982400000", "1961-04-15T08:00:00Z"},
		{anyMilli, "-62167219200000", "0000-01-01T00:00:00Z"},
		{anyMilli, "253402300799999", "9999-12-31T23:59:59.999Z"},
		{anyMicro, "1", "1970-01-01T00:00:00.000001Z"},
		{anyNano, "-1", "1969-12-31T23:59:59.999999Z"},
		{text, `"2026-08-20T05:45Z"`, "2026-08-20T05:45:00Z"},
		{text, `"2026-08-20T05:45:04.783+0000"`, "2026-08-20T05:45:04.783Z"},
		{text, `"2026-08-20T05:45+0130"`, "2026-08-20T04:15:00Z"},
		{local, `"2026-08-20T05:45"`, "2026-08-20T05:45:00"},
		{parts, "[2026,8,20,5,45,4,783706186]", "2026-08-20T05:45:04.783706"},
		{parts, " [ 2026, 8, 20, 5, 45 ] ", "2026-08-20T05:45:00"},
		{day, "[2026,8,20]", "2026-08-20"},

		{instant, "-274982400.5", "decode: E: the unpacked payload is out of range: the unit may be wrong"},
		{anySecond, "1787204704783", "decode: E: the unpacked payload is out of range"},
		{anyMilli, "253402300800000", "decode: E: the unpacked payload is out of range"},
		{millis, "1787204704783.5", "decode: E: the unpacked payload must be an integer"},
		{anyMicro, "9223372036825200000", "decode: E: the unpacked payload is infinity, which the type does not have"},
		{anyMicro, "-9223372036832400000", "decode: E: the unpacked payload is infinity, which the type does not have"},
		{text, `"-infinity"`, "decode: E: the unpacked payload is infinity, which the type does not have"},
		{text, `"2026-08-20T05:45"`, "decode: E: the unpacked payload must be an RFC 3339 time with a zone"},
		{text, `"2026-08-20T05Z"`, "decode: E: the unpacked payload must be an RFC 3339 time with a zone"},
		{parts, "[2026,8,20]", notArray},
		{parts, `"2026-08-20T05:45:04"`, notArray},
		{parts, "[2026,8,20,5,45,4,783706186,0]", notArray},
		{day, "[2026,8,20,5,45]", "decode: E: the unpacked payload must be an array of year, month and day"},
		{day, "[2026,2,29]", "decode: E: the unpacked payload must be an array of year, month and day"},
		{day, "null", "decode: E: the unpacked payload must not be null"},
	} {
		var s Scanner
		s.Reset((&wire.Message{Value: []byte(c.value)}).Unpacked([]byte(c.value), nil))
		got := c.read(&s)
		if err := s.Finish("E"); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.value, got, c.want)
		}
	}
}
