package notation

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// TestEpoch: numbers of each unit, at the ends of what is read; what is less than a microsecond is
// cut towards the past.
func TestEpoch(t *testing.T) {
	for _, c := range []struct {
		text    string
		unit    time.Duration
		anyTime bool
		want    string // a time, or the reason why it is none
	}{
		{"1709208000", time.Second, false, "2024-02-29T12:00:00Z"},
		{"1709208000.25", time.Second, false, "2024-02-29T12:00:00.25Z"},
		{"1709208000.1234567", time.Second, false, "2024-02-29T12:00:00.123456Z"},
		{"-1.5", time.Second, true, "1969-12-31T23:59:58.5Z"},
		{"-0.0000001", time.Second, true, "1969-12-31T23:59:59.999999Z"},
		{"-0.1000000", time.Second, true, "1969-12-31T23:59:59.9Z"},
		{"1709208000.", time.Second, false, NotSeconds},
		{"1709208000.1x", time.Second, false, NotSeconds},
		{"1709208000.5", time.Millisecond, false, NotInteger},
		{"1709208000123", time.Millisecond, false, "2024-02-29T12:00:00.123Z"},
		{"1709208000123456", time.Microsecond, false, "2024-02-29T12:00:00.123456Z"},
		{"1709208000123456789", time.Nanosecond, false, "2024-02-29T12:00:00.123456Z"},
		{"-1", time.Nanosecond, true, "1969-12-31T23:59:59.999999Z"},
		{"99964800", time.Second, false, "1973-03-03T00:00:00Z"},
		{"99964799", time.Second, false, WrongUnit},
		{"99964799", time.Second, true, "1973-03-02T23:59:59Z"},
		{"7258118399.999999", time.Second, false, "2199-12-31T23:59:59.999999Z"},
		{"7258118400", time.Second, false, WrongUnit},
		{"7258118400", time.Second, true, "2200-01-01T00:00:00Z"},
		{"-62167219200", time.Second, true, "0000-01-01T00:00:00Z"},
		{"-62167219201", time.Second, true, OutOfRange},
		{"253402300799", time.Second, true, "9999-12-31T23:59:59Z"},
		{"253402300800", time.Second, true, OutOfRange},
		{"253402300800", time.Second, false, WrongUnit},
		{"9223372036825200000", time.Microsecond, true, Infinite},
		{"-9223372036832400000", time.Millisecond, true, Infinite},
		{"x", time.Second, false, NotInteger},
		{fmt.Sprint(math.MinInt64), time.Second, true, OutOfRange},
	} {
		got, reason := Epoch([]byte(c.text), c.unit, c.anyTime)
		if says := got.Format(time.RFC3339Nano); reason != c.want && (reason != "" || says != c.want) {
			t.Errorf("%s of %v: got %s %q, want %s", c.text, c.unit, says, reason, c.want)
		}
	}
}

// TestClocks: times, times without a zone, and dates, at their ends.
func TestClocks(t *testing.T) {
	readTime := func(text string) (string, string) {
		got, reason := Time([]byte(text))
		return got.Format(time.RFC3339Nano), reason
	}
	readLocal := func(text string) (string, string) {
		micro, reason := LocalTime([]byte(text))
		return time.UnixMicro(micro).UTC().Format("2006-01-02T15:04:05.999999"), reason
	}
	readDate := func(text string) (string, string) {
		days, reason := Date([]byte(text))
		return time.Unix(days*DaySeconds, 0).UTC().Format(time.DateOnly), reason
	}
	for _, c := range []struct {
		read       func(string) (string, string)
		text, want string
	}{
		{readTime, "2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z"},
		{readTime, "2024-02-29t12:00:00z", "2024-02-29T12:00:00Z"},
		{readTime, "2024-02-29T12:00Z", "2024-02-29T12:00:00Z"},
		{readTime, "2024-02-29T12:00:00.1234567Z", "2024-02-29T12:00:00.123456Z"},
		{readTime, "2024-02-29T12:00:00.5+02:30", "2024-02-29T09:30:00.5Z"},
		{readTime, "2024-02-29T12:00:00-0230", "2024-02-29T14:30:00Z"},
		{readTime, "2024-02-29T23:59:59+23:59", "2024-02-29T00:00:59Z"},
		{readTime, "2024-02-29T12:00:00+24:00", NotTime},
		{readTime, "2024-02-29T12:00:00+00:60", NotTime},
		{readTime, "2024-02-29T12:00:00+0x:00", NotTime},
		{readTime, "2024-02-29T12:00:00+00 00", NotTime},
		{readTime, "2024-02-29T12:00:00+00", NotTime},
		{readTime, "2024-02-29T12:00:00*00:00", NotTime},
		{readTime, "2024-02-29T12:00:00", NotTime},
		{readTime, "2024-02-29T12:00:00Zz", NotTime},
		{readTime, "2024-02-29T12:00:00.Z", NotTime},
		{readTime, "2024-02-29T24:00:00Z", NotTime},
		{readTime, "2024-02-29T23:60:00Z", NotTime},
		{readTime, "2024-02-29T23:59:60Z", NotTime},
		{readTime, "2024-02-29 12:00:00Z", NotTime},
		{readTime, "2024-02-29T12-00:00Z", NotTime},
		{readTime, "2023-02-29T12:00:00Z", NotTime},
		{readTime, "0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"},
		{readTime, "0000-01-01T00:00:00+00:01", OutOfRange},
		{readTime, "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"},
		{readTime, "9999-12-31T23:59:59-00:01", OutOfRange},
		{readTime, "infinity", Infinite},
		{readTime, "-infinity", Infinite},
		{readTime, "+infinity", NotTime},
		{readTime, "", NotTime},
		{readLocal, "2024-02-29T12:00:01", "2024-02-29T12:00:01"},
		{readLocal, "2024-02-29T12:00", "2024-02-29T12:00:00"},
		{readLocal, "2024-02-29T12:00:00.000001", "2024-02-29T12:00:00.000001"},
		{readLocal, "2024-02-29T12:00:00.", NotLocalTime},
		{readLocal, "2024-02-29T12:00:00Z", NotLocalTime},
		{readLocal, "infinity", Infinite},
		{readDate, "2000-02-29", "2000-02-29"},
		{readDate, "1900-02-29", NotDate},
		{readDate, "2024-12-31", "2024-12-31"},
		{readDate, "2024-00-10", NotDate},
		{readDate, "2024-13-10", NotDate},
		{readDate, "2024-04-31", NotDate},
		{readDate, "2024-04-00", NotDate},
		{readDate, "2024/04-01", NotDate},
		{readDate, "2024-04/01", NotDate},
		{readDate, "2024-04-01T", NotDate},
		{readDate, "-infinity", Infinite},
	} {
		if got, reason := c.read(c.text); reason != c.want && (reason != "" || got != c.want) {
			t.Errorf("%s: got %s %q, want %s", c.text, got, reason, c.want)
		}
	}
}

// TestInts: integers at the ends of their range, and what is none.
func TestInts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0", "0"}, {"-0", "0"}, {"7", "7"}, {"-8", "-8"}, {"8", OutOfRange}, {"-9", OutOfRange}, {"99999999999999999999", OutOfRange},
		{"", NotInteger}, {"-", NotInteger}, {"+1", NotInteger}, {"1.0", NotInteger}, {"1e0", NotInteger}, {" 1", NotInteger},
	} {
		if n, reason := Int([]byte(c.text), -8, 7); reason != c.want && (reason != "" || fmt.Sprint(n) != c.want) {
			t.Errorf("%q: got %d %q, want %s", c.text, n, reason, c.want)
		}
	}
	for _, n := range []int64{math.MaxInt64, math.MinInt64} {
		if got, reason := Int(fmt.Append(nil, n), math.MinInt64, math.MaxInt64); got != n || reason != "" {
			t.Errorf("%d: got %d %q", n, got, reason)
		}
	}
}
