package resolve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveLeave reads the columns that the step leaves to the database.
func resolveLeave(report *syntax.Diagnostics, st *draft.Step) {
	if st.Spec.Leave == nil {
		return
	}
	for _, item := range st.Spec.Leave.Items {
		c := nameColumn(report, st, item)
		if c == nil || c.Broken || c.Model.Nullable || c.Model.ByDatabase() || c.Spec.Default != nil {
			continue
		}
		hint := "give it a value or a default, or make it nullable"
		if st.Table.Model.External {
			hint = "give it a value, " + setTo(c) + "; or, if no step writes the column, write filled_by: database on it"
		}
		report.Add(item.Pos, "E303", c.Is()+" may not be null and has no default, so it cannot be left to the database", hint)
		st.Whole = false
	}
}

// setTo is how a step gives a column a value that is the same for all rows.
func setTo(c *draft.Column) string {
	value := "..."
	switch c.Model.Type.Kind {
	case model.ColSmallint, model.ColInteger, model.ColBigint, model.ColNumeric, model.ColReal, model.ColDouble:
		value = "0"
	case model.ColBoolean:
		value = "false"
	}
	return fmt.Sprintf("set: {%s: {value: %s}}", c.Spec.Name.Value, value)
}

// fill gives every column that set, clear and leave do not name the value of its name,
// and reports those that get none (E601).
func fill(report *syntax.Diagnostics, st *draft.Step) {
	var empty []*draft.Column
	for _, c := range st.Table.Columns {
		if st.Named[c] {
			continue
		}
		v, found := sameNamed(st, c.Spec.Name.Value)
		switch {
		case found:
			if checkWritable(report, c, st.Spec.Table.Pos, "the value of that name cannot be written there: remove the field, or, if the event needs it elsewhere, list the column under leave:") {
				v = checkFill(report, st, c, v, st.Spec.Table.Pos)
			} else {
				v.Known = false
			}
			put(st, c, v)
		case c.Broken:
			st.Whole = false
		case !c.Model.ByDatabase():
			empty = append(empty, c)
		}
	}
	if len(empty) > 0 && judgeable(st) {
		reportEmpty(report, st, empty)
	}
	if len(empty) > 0 {
		st.Whole = false
	}
}

// judgeable reports whether a missing value proves anything: the names in reach are
// all known, and so are the columns that the step names.
func judgeable(st *draft.Step) bool {
	if st.Spec.Broken || st.Spec.Set != nil && st.Spec.Set.Broken {
		return false
	}
	if st.PerElement() {
		return st.Elem != nil
	}
	return !st.Event.Scope.Open
}

// sameNamed finds the value of a column's name: a member of the element, or without
// each a name of the event's scope. An unknown declaration counts as found.
func sameNamed(st *draft.Step, text string) (draft.Value, bool) {
	if st.PerElement() {
		if st.Elem != nil && st.Elem.Kind == model.Object {
			for _, m := range st.Elem.Named.Fields {
				if m.Name == text {
					return elemValue(m, text), true
				}
			}
		}
		return draft.Value{}, false
	}
	n := st.Event.Scope.Find(text)
	if n == nil || n.NoPayload {
		return draft.Value{}, false
	}
	n.Used = true
	return fieldValue(n.Field, text), true
}

// reportEmpty reports columns without a value, with the field that was probably meant.
func reportEmpty(report *syntax.Diagnostics, st *draft.Step, empty []*draft.Column) {
	for _, c := range empty {
		hint := "add it to set:, or declare a field of that name"
		if st.Elem != nil {
			hint = "add it to set: (with each, only the element's fields fill columns by name)"
		}
		switch {
		case c.Model.Default != nil:
			hint += ", or list it under leave: to use its default"
		case c.Model.Nullable:
			hint += ", or list it under leave: for NULL in a new row"
		}
		report.Add(st.Spec.Table.Pos, "E601", c.Is()+" gets no value", cmp.Or(misspelt(st, c, empty), hint))
	}
}

// misspelt finds a field of the event that fills no column and whose name is near.
func misspelt(st *draft.Step, c *draft.Column, empty []*draft.Column) string {
	if st.PerElement() {
		return misspeltMember(st, c)
	}
	for _, n := range st.Event.Scope.Names {
		if st.Table.Column(n.Text) == nil && n.Origin != draft.RecordKeyPart && syntax.Closest(n.Text, namesOf(empty)) == c.Spec.Name.Value {
			return fmt.Sprintf("field %s fills no column: did you mean %s?", wording.Quote(n.Text), wording.Quote(c.Spec.Name.Value))
		}
	}
	return ""
}

func misspeltMember(st *draft.Step, c *draft.Column) string {
	if st.Elem == nil || st.Elem.Kind != model.Object {
		return ""
	}
	for _, m := range st.Elem.Named.Fields {
		if st.Table.Column(m.Name) == nil && syntax.Closest(m.Name, []string{c.Spec.Name.Value}) != "" {
			return fmt.Sprintf("field %s of %s fills no column: did you mean %s?", wording.Quote(m.Name), wording.Quote(typeword.Text(*st.Elem)), wording.Quote(c.Spec.Name.Value))
		}
	}
	if slices.Contains(st.Event.Scope.Texts(), c.Spec.Name.Value) {
		return fmt.Sprintf("with each, the event's own fields do not fill columns by name: add set: {%s: %s}", c.Spec.Name.Value, c.Spec.Name.Value)
	}
	return ""
}

func namesOf(columns []*draft.Column) []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Spec.Name.Value)
	}
	return names
}
