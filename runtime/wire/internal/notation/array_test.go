package notation

import (
	"encoding/json"
	"testing"
	"time"
)

// Arrays are those of Jackson: without what is zero at the end.
func TestArraysAreTimes(t *testing.T) {
	for text, want := range map[string]string{
		"[2026,8,20,5,45]":                   "2026-08-20T05:45:00",
		"[2026,8,20,5,45,4]":                 "2026-08-20T05:45:04",
		"[2026,8,20,5,45,4,783706186]":       "2026-08-20T05:45:04.783706",
		" [ 2026 ,\n8, 20,5 , 45 , 0 , 999]": "",
		"[ 2026 ,\n8, 20,5 , 45 , 0 , 999]":  "2026-08-20T05:45:00",
		"[1961,4,12,6,7]":                    "1961-04-12T06:07:00",
		"[0,1,1,0,0]":                        "0000-01-01T00:00:00",
		"[2024,2,29,23,59,59,999999999]":     "2024-02-29T23:59:59.999999",
		"[2026,2,29,0,0]":                    "", "[2026,8,20]": "", "[2026,8,20,5]": "", "[2026,8,20,5,45,4,783706186,0]": "",
		"[2026,8,20,24,0]": "", "[2026,8,20,5,60]": "", "[2026,8,20,5,45,60]": "", "[2026,8,20,5,45,4,1000000000]": "",
		"[2026,0,20,5,45]": "", "[2026,13,20,5,45]": "", "[2026,8,0,5,45]": "", "[-1,8,20,5,45]": "", "[10000,8,20,5,45]": "",
		"[2026,08,20,5,45]": "", "[2026,8,20,5,45.5]": "", `["2026",8,20,5,45]`: "", "[2026,8,20,5,45": "", "[2026,8,20,5,45]]": "", "[]": "", "[": "", "": "", "{}": "", "[2026,8,20,5,45,]": "",
	} {
		micro, reason := LocalTimeArray([]byte(text))
		if got := time.UnixMicro(micro).UTC().Format("2006-01-02T15:04:05.999999"); reason == "" && got != want || (reason == "") != (want != "") {
			t.Errorf("%s: %s (%s), want %s", text, got, reason, want)
		}
	}
	for text, want := range map[string]string{
		"[2026,8,20]": "2026-08-20", "[ 1961 , 4 , 12 ]": "1961-04-12", "[2026,2,29]": "", "[2026,8]": "", "[2026,8,20,0,0]": "", "[9999,12,31]": "9999-12-31", `"2026-08-20"`: "",
	} {
		days, reason := DateArray([]byte(text))
		if got := time.Unix(days*DaySeconds, 0).UTC().Format(time.DateOnly); reason == "" && got != want || (reason == "") != (want != "") {
			t.Errorf("%s: %s (%s), want %s", text, got, reason, want)
		}
	}
}

// FuzzArray: an array is a time exactly if package time makes that time of its elements.
func FuzzArray(f *testing.F) {
	for _, in := range []string{"[2026,8,20,5,45,4,783706186]", "[2026,8,20]", "[2026,2,29,0,0]", "[1,1,1,1,1,1,1,1]", "[", "[2026,8,20,5,45.0]"} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		micro, reason := LocalTimeArray(raw)
		days, dayReason := DateArray(raw)
		var parts []int
		if json.Unmarshal(raw, &parts) != nil {
			if reason == "" || dayReason == "" {
				t.Fatalf("%q is a time", raw)
			}
			return
		}
		n := len(parts)
		parts = append(parts, 0, 0, 0, 0, 0, 0, 0)
		at := time.Date(parts[0], time.Month(parts[1]), parts[2], parts[3], parts[4], parts[5], parts[6], time.UTC)
		is := at.Year() == parts[0] && int(at.Month()) == parts[1] && at.Day() == parts[2] && at.Hour() == parts[3] && at.Minute() == parts[4] &&
			at.Second() == parts[5] && at.Nanosecond() == parts[6] && at.Year() >= 0 && at.Year() <= 9999
		if reason == "" && (!is || n < 5 || n > 7 || micro != at.UnixMicro()) {
			t.Fatalf("%q is %d (%v)", raw, micro, at)
		}
		if dayReason == "" && (!is || n != 3 || days*DaySeconds != at.Unix()) {
			t.Fatalf("%q is %d days (%v)", raw, days, at)
		}
	})
}
