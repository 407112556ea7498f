// Package waves computes what the runtime must know of a step to keep order within a batch: the
// order of statements, and which rows and tables a step touches. docs/design.md, "Waves", tells
// why.
//
// It must not import any package of this module but model.
package waves

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// whole reports whether the rows that a step changes cannot be told from its values,
// or whether it may free a value of a further unique key.
func whole(st *model.Step) bool {
	if st.Many || !namesRow(st.Names(), st.Table.PrimaryKey) {
		return true
	}
	if len(st.By) > 0 && !model.SameColumns(st.By, st.Table.PrimaryKey) {
		return true
	}
	if st.OnlyChanges() {
		return slices.ContainsFunc(st.Set, func(a model.Assign) bool {
			return slices.ContainsFunc(st.Table.Unique, func(key []*model.Column) bool { return slices.Contains(key, a.Column) })
		})
	}
	return !st.OnlyMakes() && len(st.Table.Unique) > 0
}

// namesRow reports whether values name a row by its primary key in a way that can be
// compared byte by byte: two unlike values are two rows.
func namesRow(values []model.Assign, key []*model.Column) bool {
	for _, c := range key {
		i := slices.IndexFunc(values, func(a model.Assign) bool { return a.Column == c })
		if i < 0 || values[i].Value.Kind == model.NowValue {
			return false
		}
	}
	return !slices.ContainsFunc(key, loose)
}

// loose reports whether values of a key column's type may be equal and yet differ: numeric
// (1.0 = 1.00) and types of the user. Of the others like this, json, jsonb and
// double precision are in no key, and a value of char(n) has n characters (wire.Fit).
func loose(c *model.Column) bool {
	switch c.Type.Kind {
	case model.ColNumeric, model.ColNamed:
		return true
	}
	return false
}

// Reads are the parent rows that the foreign keys of a step name. A step that sets only a
// part of a foreign key may name the rest in where. The parent is unknown if what the step
// does not name may be filled all the same: by a default, or by what is stored.
func Reads(st *model.Step) []model.ParentRow {
	var out []model.ParentRow
	for _, fk := range st.Table.ForeignKeys {
		row := model.ParentRow{Table: fk.References}
		sets, null, filled := false, false, false
		for _, c := range fk.Columns {
			if a, ok := assignedTo(st.Set, c); ok {
				sets, null = true, null || a.Value.Kind == model.NullValue
				row.Values = append(row.Values, a.Value)
			} else if a, ok := assignedTo(st.Where, c); ok {
				row.Values = append(row.Values, a.Value)
			} else {
				filled = filled || (c.Default != nil || c.Filled) && st.Makes
			}
		}
		if len(row.Values) < len(fk.Columns) {
			row.Values = nil
			sets = filled || sets && st.Changes
		}
		if sets && !null {
			out = append(out, row)
		}
	}
	return out
}

// Unlinks reports whether a step may end the reference of a stored row: it removes the row,
// or overwrites a column of the foreign key.
func Unlinks(st *model.Step, fk model.ForeignKey) bool {
	return st.Removes || st.Changes && slices.ContainsFunc(st.Set, func(a model.Assign) bool {
		return a.How == model.Overwrites && slices.Contains(fk.Columns, a.Column) && !slices.Contains(st.By, a.Column)
	})
}

func assignedTo(assigns []model.Assign, c *model.Column) (model.Assign, bool) {
	if i := slices.IndexFunc(assigns, func(a model.Assign) bool { return a.Column == c }); i >= 0 {
		return assigns[i], true
	}
	return model.Assign{}, false
}

// cascades are the tables whose rows change when rows of t are deleted, in spec order.
func cascades(t *model.Table, tables []*model.Table) []*model.Table {
	touched, deleted := map[*model.Table]bool{}, map[*model.Table]bool{}
	var visit func(parent *model.Table)
	visit = func(parent *model.Table) {
		for _, child := range tables {
			for _, fk := range child.ForeignKeys {
				if fk.References != parent || fk.OnDelete == "restrict" {
					continue
				}
				touched[child] = true
				if fk.OnDelete == "cascade" && !deleted[child] {
					deleted[child] = true
					visit(child)
				}
			}
		}
	}
	visit(t)
	var out []*model.Table
	for _, child := range tables {
		if touched[child] {
			out = append(out, child)
		}
	}
	return out
}

func patches(a model.Assign) bool { return a.Value.Patch() }

// collapse reports whether the statement of a step may reduce equal rows of a batch to
// one, so that they need no waves. Not by a loose key: one after the other, the first row's
// key stays; of the last row alone, its own would. Not with a patch: the last row may leave a
// column as the one before it makes it. Nor where a step removes rows that it does not name.
func collapse(st *model.Step, t *model.Topic) bool {
	if slices.ContainsFunc(st.By, loose) || slices.ContainsFunc(st.Set, patches) {
		return false
	}
	if !st.Makes || !st.Changes || st.Sums || !model.SameColumns(st.By, st.Table.PrimaryKey) || len(st.Table.ForeignKeys) > 0 || len(st.Table.Unique) > 0 {
		return false
	}
	return !slices.ContainsFunc(t.Flush, func(other *model.Step) bool {
		return other != st && other.Table == st.Table ||
			slices.ContainsFunc(other.Table.ForeignKeys, func(fk model.ForeignKey) bool { return fk.References == st.Table })
	})
}
