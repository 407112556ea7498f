package pgtable

import (
	"slices"
	"strings"
)

func (c *comparison) keys() {
	for i, columns := range c.want.Unique {
		if !c.has(columns) {
			continue
		}
		found, late := false, false
		for _, k := range c.have.Keys {
			if same(k.Columns, columns) {
				found, late = found || !k.Deferrable, late || k.Deferrable
			}
		}
		what := "unique key"
		if i == 0 {
			what = "primary key"
		}
		at := Difference{Advice: "steps find rows by it: create a unique index, or name another key"}
		switch {
		case found:
		case late:
			at.Advice = "make it NOT DEFERRABLE"
			c.add(at, "the %s [%s] of %s is deferrable: no upsert can find rows by it", what, strings.Join(columns, ", "), c.want.SQL)
		default:
			c.add(at, "%s has no unique key [%s], which the spec calls %s", c.want.SQL, strings.Join(columns, ", "), map[bool]string{true: "its primary key", false: "unique"}[i == 0])
		}
	}
}

// has reports whether all of these columns are there; one that is not is told.
func (c *comparison) has(columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool { return c.have.Column(name) == nil })
}

// same reports whether two keys hold the same columns, in any order.
func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
