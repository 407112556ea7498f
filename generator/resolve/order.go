package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// rowKey are the columns that find the row, with their values.
func rowKey(st *step) []model.Assign {
	if len(st.model.Where) > 0 {
		return st.model.Where
	}
	var out []model.Assign
	for _, c := range st.model.By {
		if v, ok := st.set[st.table.of(c)]; ok {
			out = append(out, model.Assign{Column: c, Value: v.model})
		}
	}
	return out
}

// ordered reports whether all events of the topic that write the row come in order:
// the topic is ordered by its record key, and the record key is inside the row key.
func ordered(st *step) bool {
	t := st.event.topic
	if !t.model.Ordered || t.key == nil {
		return false
	}
	for _, p := range t.key.model.Parts {
		if !slices.ContainsFunc(rowKey(st), func(a model.Assign) bool { return partOf(a.Value) == p }) {
			return false
		}
	}
	return true
}

// whyUnordered says why a step is not ordered.
func whyUnordered(st *step) string {
	t := st.event.topic
	if !t.model.Ordered || t.key == nil {
		return fmt.Sprintf("topic %s does not say what orders it", quote(t.spec.Name.Value))
	}
	var columns, parts []string
	for _, a := range rowKey(st) {
		columns = append(columns, a.Column.Name)
	}
	for _, p := range t.key.model.Parts {
		parts = append(parts, p.Name)
	}
	found, from := bracketed(columns), ""
	if found == bracketed(parts) { // equal names, but not filled from the record key
		from = ", which the record key does not fill"
	}
	return fmt.Sprintf("rows of %s are found by %s%s, but the topic is ordered by %s", quote(st.spec.Table.Value), found, from, bracketed(parts))
}
