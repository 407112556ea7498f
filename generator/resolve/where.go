package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// resolveWhere reads how a step finds rows that are there; without where it is by the
// primary key from the values of its names.
func resolveWhere(report *schema.Diagnostics, st *step) {
	if st.spec.Where == nil {
		defaultWhere(report, st)
		return
	}
	st.whole = st.whole && !st.spec.Where.Broken
	for _, a := range st.spec.Where.Items {
		c := lookupColumn(report, st.table, a.Column)
		if c == nil {
			st.whole = false
			continue
		}
		v := checkWhere(report, st, c, resolveValue(report, st, a.Value, c), a.Value.Pos)
		st.whole = st.whole && v.known
		st.where[c] = v
	}
	if st.spec.Where.Broken || st.table.broken || len(st.where) < len(st.spec.Where.Items) || st.model.Many {
		return
	}
	var columns []*model.Column
	for c := range st.where {
		columns = append(columns, c.model)
	}
	if !st.table.uniqueWithin(columns) {
		report.Add(st.spec.Where.Key, "E511", fmt.Sprintf("where names %s, which is not a whole unique key of %s: many rows could change",
			bracketed(st.whereNames()), quote(st.spec.Table.Value)), "name the rest of the key, or state many: true")
		st.model.Many = true // for the checks that follow
	}
}

// defaultWhere takes the primary key from the values of its names.
func defaultWhere(report *schema.Diagnostics, st *step) {
	for _, pk := range st.table.model.PrimaryKey {
		c := st.table.of(pk)
		v, found := st.sameNamed(pk.Name)
		if !found {
			st.whole = false
			if st.judgeable() && !st.table.broken {
				hint := "add where: with the columns that find the row, or declare a field of that name"
				if st.elem != nil {
					hint = "add where: with the columns that find the row; with each, only the element's fields count by name"
				}
				report.Add(st.spec.Table.Pos, "E601", fmt.Sprintf("where: %s gets no value", c.is()), hint)
			}
			continue
		}
		v = checkWhere(report, st, c, v, st.spec.Table.Pos)
		st.whole = st.whole && v.known
		st.where[c] = v
	}
}

// checkWhere checks a value that a column is compared with.
func checkWhere(report *schema.Diagnostics, st *step, c *column, v value, pos schema.Pos) value {
	if v.known && v.model.Kind == model.NowValue {
		report.Add(pos, "E302", fmt.Sprintf("where cannot compare column %s with the transaction time", quote(c.spec.Name.Value)), "compare it with a field of the event")
		v.known = false
	}
	v = checkType(report, c, v, pos, "be compared with")
	switch {
	case !v.known:
	case c.model.Type.Kind == model.ColJSON:
		report.Add(pos, "E302", fmt.Sprintf("where cannot compare column %s: json has no equality", quote(c.spec.Name.Value)), "use jsonb")
		v.known = false
	case v.typ.Optional:
		report.Add(pos, "E303", fmt.Sprintf("field %s may be null, but where compares column %s with it: a null finds no row", quote(v.text), quote(c.spec.Name.Value)),
			`drop "optional", or find the row by another column`)
		v.known = false
	}
	return v
}

// whereNames are the columns of where as the spec lists them.
func (st *step) whereNames() []string {
	var names []string
	for _, a := range st.spec.Where.Items {
		names = append(names, a.Column.Value)
	}
	return names
}

// uniqueWithin reports whether columns contain a whole unique key of the table.
func (t *table) uniqueWithin(columns []*model.Column) bool {
	for _, key := range t.keys() {
		if containsColumns(columns, key) {
			return true
		}
	}
	return false
}

// keys are the primary key and the unique keys.
func (t *table) keys() [][]*model.Column {
	return append([][]*model.Column{t.model.PrimaryKey}, t.model.Unique...)
}
