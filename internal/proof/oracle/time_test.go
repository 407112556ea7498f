package oracle

import (
	"strconv"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func TestTimestamps(t *testing.T) {
	for text, want := range map[string]string{
		"2026-01-02T03:04:05Z":                "2026-01-02T03:04:05.000000Z",
		"2026-01-02t03:04:05z":                "2026-01-02T03:04:05.000000Z",
		"2026-01-02T03:04:05.1Z":              "2026-01-02T03:04:05.100000Z",
		"2026-01-02T03:04:05.123456999Z":      "2026-01-02T03:04:05.123456Z",
		"2026-01-01T00:30:00+01:00":           "2025-12-31T23:30:00.000000Z",
		"2026-01-01T00:30:00-23:59":           "2026-01-02T00:29:00.000000Z",
		"2026-01-01T00:30:00-00:00":           "2026-01-01T00:30:00.000000Z",
		"2024-02-29T00:00:00Z":                "2024-02-29T00:00:00.000000Z",
		"1969-12-31T23:59:59.9999999Z":        "1969-12-31T23:59:59.999999Z",
		"0000-01-01T00:00:00Z":                "0000-01-01T00:00:00.000000Z",
		"2026-08-20T05:45Z":                   "2026-08-20T05:45:00.000000Z",
		"2026-08-20T05:45+0000":               "2026-08-20T05:45:00.000000Z",
		"2026-08-20T05:45:04.783+0130":        "2026-08-20T04:15:04.783000Z",
		"9999-12-31T23:59:59.999999999Z":      "9999-12-31T23:59:59.999999Z",
		"2026-01-02T03:04:05.00000000000001Z": "2026-01-02T03:04:05.000000Z",
	} {
		at, err := parseInstant(text)
		if got := at.time().Format(instantLayout); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-01-02T03Z", "2026-01-02T03:4Z", "2026-01-02T03:04.5Z", "2026-01-02T03:04:60Z", "2026-01-02T24:00:00Z",
		"2026-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
		"2026-01-02T03:04:05.Z", "2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05+01", "2026-01-02T03:04:05+01000", "2026-01-02T03:04:05+010", "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+01:60",
		"2026-1-2T03:04:05Z", "2026-01-02T3:04:05Z", "+2026-01-02T03:04:05Z", "02026-01-02T03:04:05Z", "2026-01-02T03:04:05ZZ", "2026-01-02T03:04:05z14:30", "2026-01-02T03:04:05Z00:00", "2026-01-02T03:04:05Z ",
		"0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
	} {
		if at, err := parseInstant(text); err == nil {
			t.Errorf("%q was accepted as %s", text, at.time())
		}
	}
}

func TestLocalTimestampsAndDates(t *testing.T) {
	w, err := parseWall("2026-01-02T03:04:05.1234567")
	if got := w.time().Format(wallLayout); err != nil || got != "2026-01-02T03:04:05.123456" {
		t.Error(got, err)
	}
	for _, text := range []string{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05+01:00", "2026-01-02"} {
		if _, err := parseWall(text); err == nil {
			t.Errorf("%s was accepted without zone", text)
		}
	}
	for text, days := range map[string]int64{"1970-01-01": 0, "1969-12-31": -1, "2000-03-01": 11017, "0000-01-01": -719528, "9999-12-31": 2932896} {
		if d, err := parseDay(text); err != nil || int64(d) != days {
			t.Errorf("%s: %d %v, want %d", text, d, err, days)
		}
	}
	for _, text := range []string{"", "2026-1-2", "20260102", "2026-02-29", "1900-02-29", "2026-04-31", "2026/01/02", "2026-01-02T"} {
		if _, err := parseDay(text); err == nil {
			t.Errorf("%q was accepted as a date", text)
		}
	}
	for _, n := range []int64{-719529, 2932897} {
		if _, err := fromEpochDays(n); err == nil {
			t.Errorf("day %d was accepted", n)
		}
	}
}

func TestEpochsRefuseTheWrongUnit(t *testing.T) {
	for _, c := range []struct {
		notation   model.Notation
		first, end int64 // 1973-03-03 and 2200-01-01 in the unit
	}{
		{model.EpochSeconds, 99964800, 7258118400},
		{model.EpochMillis, 99964800000, 7258118400000},
		{model.EpochMicros, 99964800000000, 7258118400000000},
		{model.EpochNanos, 99964800000000000, 7258118400000000000},
	} {
		read := func(n int64) (instant, error) {
			v, err := parseEpoch(model.FieldType{Kind: model.Timestamp, Notation: c.notation}, strconv.FormatInt(n, 10))
			at, _ := v.(instant)
			return at, err
		}
		if at, err := read(c.first); err != nil || at != 99964800000000 {
			t.Errorf("notation %d: first %d %v", c.notation, at, err)
		}
		if _, err := read(c.end - 1); err != nil {
			t.Errorf("notation %d: last: %v", c.notation, err)
		}
		for _, n := range []int64{c.first - 1, c.end, 0, -1} {
			if _, err := read(n); err == nil {
				t.Errorf("notation %d: %d was accepted", c.notation, n)
			}
		}
	}
	for _, c := range []struct {
		notation model.Notation
		text     string
		want     instant
	}{
		{model.EpochNanos, "1767225600123456789", 1767225600123456}, {model.EpochSeconds, "1787204704.783706186", 1787204704783706},
		{model.EpochSeconds, "-0.0000001", -1}, {model.EpochMillis, "-274982400000", -274982400000000}, {model.EpochNanos, "-1", -1}, {model.EpochSeconds, "-62167219200", -62167219200000000},
	} {
		if at, err := parseEpoch(model.FieldType{Kind: model.Timestamp, Notation: c.notation, AnyTime: true}, c.text); at != c.want || err != nil {
			t.Errorf("%s is %v (%v), want %d", c.text, at, err, c.want)
		}
	}
}
