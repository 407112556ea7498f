package resolve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// resolveLeave reads the columns that the step leaves to the database.
func resolveLeave(report *schema.Diagnostics, st *step) {
	if st.spec.Leave == nil {
		return
	}
	for _, item := range st.spec.Leave.Items {
		c := nameColumn(report, st, item)
		if c == nil || c.broken || c.model.Nullable || c.model.Identity || c.spec.Default != nil {
			continue
		}
		report.Add(item.Pos, "E303", c.is()+" may not be null and has no default, so it cannot be left to the database", "give it a value, a default, or make it nullable")
		st.whole = false
	}
}

// fill gives every column that set, clear and leave do not name the value of its name,
// and reports those that get none (E601).
func fill(report *schema.Diagnostics, st *step) {
	var empty []*column
	for _, c := range st.table.columns {
		if st.named[c] {
			continue
		}
		v, found := st.sameNamed(c.spec.Name.Value)
		switch {
		case found:
			if checkWritable(report, c, st.spec.Table.Pos, "the value of that name cannot go there: list the column under leave:, or rename the field with path:") {
				v = checkFill(report, st, c, v, st.spec.Table.Pos)
			} else {
				v.known = false
			}
			st.put(c, v)
		case c.broken:
			st.whole = false
		case !c.model.Identity:
			empty = append(empty, c)
		}
	}
	if len(empty) > 0 && st.judgeable() {
		reportEmpty(report, st, empty)
	}
	if len(empty) > 0 {
		st.whole = false
	}
}

// judgeable reports whether a missing value proves anything: the names in reach are
// all known, and so are the columns that the step names.
func (st *step) judgeable() bool {
	if st.spec.Broken || st.spec.Set != nil && st.spec.Set.Broken {
		return false
	}
	if st.spec.Each != nil {
		return st.elem != nil
	}
	return !st.event.scope.open
}

// sameNamed finds the value of a column's name: a member of the element, or without
// each a name of the event's scope. An unknown declaration counts as found.
func (st *step) sameNamed(text string) (value, bool) {
	if st.spec.Each != nil {
		if st.elem != nil && st.elem.Kind == model.Object {
			for _, m := range st.elem.Named.Fields {
				if m.Name == text {
					return elemValue(m, text), true
				}
			}
		}
		return value{}, false
	}
	n := st.event.scope.find(text)
	if n == nil || n.noPayload {
		return value{}, false
	}
	n.used = true
	return fieldValue(n.field, text), true
}

// reportEmpty reports columns without a value, with the field that was probably meant.
func reportEmpty(report *schema.Diagnostics, st *step, empty []*column) {
	for _, c := range empty {
		hint := "add it to set:, or declare a field of that name"
		if st.elem != nil {
			hint = "add it to set: (with each, only the element's fields fill columns by name)"
		}
		switch {
		case c.model.Default != nil:
			hint += ", or list it under leave: to leave it to its default"
		case c.model.Nullable:
			hint += ", or list it under leave: for NULL in a new row"
		}
		report.Add(st.spec.Table.Pos, "E601", c.is()+" gets no value", cmp.Or(misspelt(st, c, empty), hint))
	}
}

// misspelt finds a field of the event that fills no column and whose name is near.
func misspelt(st *step, c *column, empty []*column) string {
	if st.spec.Each != nil {
		return misspeltMember(st, c)
	}
	for _, n := range st.event.scope.names {
		if st.table.column(n.text) == nil && n.origin != keyPart && schema.Closest(n.text, namesOf(empty)) == c.spec.Name.Value {
			return fmt.Sprintf("field %s fills no column: did you mean %s?", quote(n.text), quote(c.spec.Name.Value))
		}
	}
	return ""
}

func misspeltMember(st *step, c *column) string {
	if st.elem == nil || st.elem.Kind != model.Object {
		return ""
	}
	for _, m := range st.elem.Named.Fields {
		if st.table.column(m.Name) == nil && schema.Closest(m.Name, []string{c.spec.Name.Value}) != "" {
			return fmt.Sprintf("field %s of %s fills no column: did you mean %s?", quote(m.Name), quote(typeText(*st.elem)), quote(c.spec.Name.Value))
		}
	}
	if slices.Contains(st.event.scope.texts(), c.spec.Name.Value) {
		return fmt.Sprintf("with each, the event's own fields fill nothing by name: add set: {%s: %s}", c.spec.Name.Value, c.spec.Name.Value)
	}
	return ""
}

func namesOf(columns []*column) []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.spec.Name.Value)
	}
	return names
}
