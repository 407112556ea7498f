package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// parsed are the types whose values Postgres reads from texts, by their names in SQL and in specs,
// with text number n of each as Postgres writes it. A type rejects a bad text by an SQLSTATE of
// class 22, and stores the whole of any other. So xml, tsvector and jsonpath are missing, whose
// errors halt, and bit, money and name, which cut or round.
var parsed = map[string]func(n int) string{
	"time":     func(n int) string { return minute(n).Format(time.TimeOnly) },
	"timetz":   func(n int) string { return minute(n).Format(time.TimeOnly) + "+00" },
	"interval": func(n int) string { return fmt.Sprintf("%d days", n+2) },
	"inet":     func(n int) string { return fmt.Sprintf("10.%d.%d.%d", n>>16%256, n>>8%256, n%256) },
	"cidr":     func(n int) string { return fmt.Sprintf("10.%d.%d.%d/32", n>>16%256, n>>8%256, n%256) },
	"macaddr":  func(n int) string { return fmt.Sprintf("08:00:2b:%02x:%02x:%02x", n>>16%256, n>>8%256, n%256) },
	"macaddr8": func(n int) string { return fmt.Sprintf("08:00:2b:ff:fe:%02x:%02x:%02x", n>>16%256, n>>8%256, n%256) },
	"citext":   func(n int) string { return fmt.Sprintf("Text %d", n) },
	"varbit":   func(n int) string { return strconv.FormatInt(int64(n), 2) },

	"point":   func(n int) string { return fmt.Sprintf("(%d,1)", n) },
	"line":    func(n int) string { return fmt.Sprintf("{1,-1,%d}", n) },
	"lseg":    func(n int) string { return fmt.Sprintf("[(%d,0),(0,1)]", n) },
	"box":     func(n int) string { return fmt.Sprintf("(%d,1),(0,0)", n) },
	"path":    func(n int) string { return fmt.Sprintf("[(%d,0),(0,1)]", n) },
	"polygon": func(n int) string { return fmt.Sprintf("((%d,0),(0,1),(0,0))", n) },
	"circle":  func(n int) string { return fmt.Sprintf("<(%d,0),1>", n) },

	"int4range": whole, "int8range": whole, "numrange": whole, "daterange": days, "tsrange": minutes(""), "tstzrange": minutes("+00"),
	"int4multirange": many(whole), "int8multirange": many(whole), "nummultirange": many(whole),
	"datemultirange": many(days), "tsmultirange": many(minutes("")), "tstzmultirange": many(minutes("+00")),
}

// Parsed are the names of the types of [ColParsed].
var Parsed = slices.Sorted(maps.Keys(parsed))

// ParsedText returns text number n of a type of [ColParsed].
func ParsedText(name string, n int) string { return parsed[name](n) }

func minute(n int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

func whole(n int) string { return fmt.Sprintf("[%d,%d)", n, n+1) }

func days(n int) string {
	from := minute(0).AddDate(0, 0, n%2_000_000)
	return "[" + from.Format(time.DateOnly) + "," + from.AddDate(0, 0, 1).Format(time.DateOnly) + ")"
}

func minutes(zone string) func(n int) string {
	return func(n int) string {
		return `["` + minute(n).Format(time.DateTime) + zone + `","` + minute(n+1).Format(time.DateTime) + zone + `")`
	}
}

func many(one func(n int) string) func(n int) string {
	return func(n int) string { return "{" + one(n) + "}" }
}
