package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveWhere reads how a step finds rows that are there; without where it is by the
// primary key from the values of its names.
func resolveWhere(report *syntax.Diagnostics, st *draft.Step) {
	if st.Spec.Where == nil {
		defaultWhere(report, st)
		return
	}
	st.Whole = st.Whole && !st.Spec.Where.Broken
	for _, a := range st.Spec.Where.Items {
		c := lookupColumn(report, st.Table, a.Column)
		if c == nil {
			st.Whole = false
			continue
		}
		v := checkWhere(report, st, c, resolveValue(report, st, a.Value, c), a.Value.Pos)
		st.Whole = st.Whole && v.Known
		st.Where[c] = v
	}
	if st.Spec.Where.Broken || st.Table.Broken || len(st.Where) < len(st.Spec.Where.Items) || st.Model.Many {
		return
	}
	var columns []*model.Column
	for c := range st.Where {
		columns = append(columns, c.Model)
	}
	if !uniqueWithin(st.Table, columns) {
		hint := "name the rest of the key"
		if !st.Model.Sums {
			hint += ", or write many: true"
		}
		report.Add(st.Spec.Where.Key, "E511", fmt.Sprintf("where names %s, which is not a whole unique key of %s: many rows could change",
			wording.Bracketed(whereNames(st)), wording.Quote(st.Spec.Table.Value)), hint)
	}
}

// defaultWhere takes the primary key from the values of its names.
func defaultWhere(report *syntax.Diagnostics, st *draft.Step) {
	for _, pk := range st.Table.Model.PrimaryKey {
		c := st.Table.Of(pk)
		v, found := sameNamed(st, pk.Name)
		if !found {
			st.Whole = false
			if judgeable(st) && !st.Table.Broken {
				hint := "add where: with the columns that find the row, or declare a field of that name"
				if st.Elem != nil {
					hint = "add where: with the columns that find the row; with each, only the element's fields are found by name"
				}
				report.Add(st.Spec.Table.Pos, "E601", fmt.Sprintf("where: %s gets no value", c.Is()), hint)
			}
			continue
		}
		v = checkWhere(report, st, c, v, st.Spec.Table.Pos)
		st.Whole = st.Whole && v.Known
		st.Where[c] = v
	}
}

// checkWhere checks a value that a column is compared with.
func checkWhere(report *syntax.Diagnostics, st *draft.Step, c *draft.Column, v draft.Value, pos syntax.Pos) draft.Value {
	if v.Known && v.Model.Kind == model.NowValue {
		report.Add(pos, "E302", fmt.Sprintf("where cannot compare column %s with the transaction time", wording.Quote(c.Spec.Name.Value)), "compare it with a field of the event")
		v.Known = false
	}
	v = checkType(report, c, v, pos, "be compared with")
	switch {
	case !v.Known:
	case c.Model.Type.Kind == model.ColParsed || c.Model.Type.Elem == model.ColParsed:
		report.Add(pos, "E302", fmt.Sprintf("where cannot compare column %s (%s): Postgres treats some different texts of this type as equal", wording.Quote(c.Spec.Name.Value), c.Spec.Type.Word),
			"find the row by another column")
		v.Known = false
	case c.Model.Type.Kind == model.ColJSON:
		report.Add(pos, "E302", fmt.Sprintf("where cannot compare column %s: json has no equality", wording.Quote(c.Spec.Name.Value)), "use jsonb")
		v.Known = false
	case v.Type.Optional:
		report.Add(pos, "E303", fmt.Sprintf("field %s may be null, but where compares column %s with it: a null finds no row", wording.Quote(v.Text), wording.Quote(c.Spec.Name.Value)),
			`remove "optional", or find the row by another column`)
		v.Known = false
	}
	return v
}

// whereNames are the columns of where as the spec lists them.
func whereNames(st *draft.Step) []string {
	var names []string
	for _, a := range st.Spec.Where.Items {
		names = append(names, a.Column.Value)
	}
	return names
}

// uniqueWithin reports whether columns contain a whole unique key of the table.
func uniqueWithin(t *draft.Table, columns []*model.Column) bool {
	for _, key := range t.Keys() {
		if model.ContainsColumns(columns, key) {
			return true
		}
	}
	return false
}
