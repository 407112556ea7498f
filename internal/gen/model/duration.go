package model

import (
	"fmt"
	"time"
)

// DurationText writes a duration as the spec does: a whole number and its largest unit.
func DurationText(d time.Duration) string {
	for _, u := range []struct {
		unit string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d != 0 && d%u.size == 0 {
			return fmt.Sprintf("%d%s", d/u.size, u.unit)
		}
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}
