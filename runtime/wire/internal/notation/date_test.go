package notation

import (
	"testing"
	"time"
)

// The calendar is that of package time.
func TestMonthsHaveTheDaysOfPackageTime(t *testing.T) {
	for year := range 2500 {
		for month := 1; month <= 12; month++ {
			last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
			if got := daysOf(year, month); got != last {
				t.Fatalf("%d-%d has %d days, not %d", year, month, last, got)
			}
		}
	}
}
