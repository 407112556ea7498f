package main

import (
	"slices"
	"strings"
	"testing"
)

func TestPrefixesSelectRows(t *testing.T) {
	all := []row{{id: "P1"}, {id: "P1a"}, {id: "P1b"}, {id: "P8"}, {id: "P8"}, {id: "P10"}, {id: "P12a"}, {id: "P12b"}}
	for prefixes, want := range map[string][]string{
		"":          {"P1", "P1a", "P1b", "P8", "P8", "P10", "P12a", "P12b"},
		"P1":        {"P1", "P1a", "P1b"},
		"P1b":       {"P1b"},
		"P12":       {"P12a", "P12b"},
		"P12b,P8":   {"P8", "P8", "P12b"},
		"P1,P1a":    {"P1", "P1a", "P1b"},
		"P":         {"P1", "P1a", "P1b", "P8", "P8", "P10", "P12a", "P12b"},
		"P10,P12a,": nil,
		"P2":        nil,
		"P1c":       nil,
	} {
		rows, err := selected(all, prefixes)
		var got []string
		for _, r := range rows {
			got = append(got, r.id)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q selects %v, want %v", prefixes, got, want)
		}
		if (err != nil) != (want == nil) {
			t.Errorf("%q: %v", prefixes, err)
		}
		if err != nil && !strings.Contains(err.Error(), "P1, P1a, P1b, P8, P10, P12a, P12b") {
			t.Errorf("%q: the error does not list the rows: %v", prefixes, err)
		}
	}
}

// A row needs contenders that there are, and both consume one log.
func TestRowsCompareContendersOfOneLog(t *testing.T) {
	log := map[string]string{}
	for _, c := range contenders {
		log[c.name] = c.log
	}
	for _, r := range rows {
		for _, name := range r.runs {
			if log[name] == "" || log[name] != log[r.runs[0]] {
				t.Errorf("%s %s: %s consumes the log %q", r.id, r.name, name, log[name])
			}
		}
	}
}
