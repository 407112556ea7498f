package main

import (
	"fmt"
	"slices"
	"strings"
)

// selected are the rows that one of the prefixes names, separated by commas; all if there are
// none. A number is taken whole: P1 names P1, P1a and P1b, not P10.
func selected(all []row, prefixes string) ([]row, error) {
	if prefixes == "" {
		return all, nil
	}
	var out []row
	wanted := strings.Split(prefixes, ",")
	for _, r := range all {
		if slices.ContainsFunc(wanted, func(prefix string) bool { return names(prefix, r.id) }) {
			out = append(out, r)
		}
	}
	for _, prefix := range wanted {
		if !slices.ContainsFunc(all, func(r row) bool { return names(prefix, r.id) }) {
			return nil, fmt.Errorf("no row begins with %q: there are %s", prefix, strings.Join(ids(all), ", "))
		}
	}
	return out, nil
}

func names(prefix, id string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || prefix == "" {
		return false
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return rest == "" || !digit(prefix[len(prefix)-1]) || !digit(rest[0])
}

func ids(all []row) (out []string) {
	for _, r := range all {
		out = append(out, r.id)
	}
	return slices.Compact(out)
}
