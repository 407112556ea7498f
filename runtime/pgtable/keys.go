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
		at := Difference{Key: columns, Of: OfUnique, Advice: "rows are found by it: make a unique index, or name another key"}
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

// references are foreign keys without which the database lets rows be that the spec rules out, or
// leaves rows behind.
func (c *comparison) references() {
	for _, r := range c.want.References {
		there := slices.ContainsFunc(c.have.ForeignKeys, func(f ForeignKey) bool { return f.OnDelete == r.OnDelete && same(f.Columns, r.Columns) })
		if !there && c.has(r.Columns) {
			c.add(Difference{Key: r.Columns, Of: OfReference, Advice: "apply the migration that makes it, or take it out of the spec"},
				"%s has no foreign key [%s] to %s with on_delete: %s", c.want.SQL, strings.Join(r.Columns, ", "), r.Table, r.OnDelete)
		}
	}
}

// indexes may begin with the columns that the spec names.
func (c *comparison) indexes() {
	for _, columns := range c.want.Indexes {
		there := slices.ContainsFunc(c.have.Indexes, func(k Key) bool {
			return len(k.Columns) >= len(columns) && slices.Equal(k.Columns[:len(columns)], columns)
		})
		if !there && c.has(columns) {
			c.add(Difference{Key: columns, Of: OfIndex, Advice: "apply the migration that makes it, or take it out of the spec"},
				"%s has no index [%s]", c.want.SQL, strings.Join(columns, ", "))
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
