package model

import "slices"

// Sensitive reports whether a value of the type holds something that the spec calls sensitive.
func (t FieldType) Sensitive() bool { return t.sensitive(map[*Type]bool{}) }

// sensitive looks into each type once: a type may be written out in many places.
func (t FieldType) sensitive(seen map[*Type]bool) bool {
	if t.Elem != nil {
		return t.Elem.sensitive(seen)
	}
	if t.Named == nil || seen[t.Named] {
		return false
	}
	seen[t.Named] = true
	return slices.ContainsFunc(t.Named.Fields, func(f *Field) bool { return f.Sensitive || f.Type.sensitive(seen) })
}

// HoldsSensitive reports whether a field, or something in it, is sensitive.
func (f *Field) HoldsSensitive() bool { return f.Sensitive || f.Type.Sensitive() }

// SensitiveColumns are the columns of a table that steps fill with what is sensitive, in the
// table's order.
func SensitiveColumns(s *Service, t *Table) (found []*Column) {
	for _, c := range t.Columns {
		if slices.ContainsFunc(s.Topics, func(topic *Topic) bool {
			return slices.ContainsFunc(topic.Flush, func(step *Step) bool { return step.Table == t && step.exposes(c) })
		}) {
			found = append(found, c)
		}
	}
	return found
}

// exposes reports whether the step compares or fills a column with what is sensitive.
func (s *Step) exposes(c *Column) bool {
	return slices.ContainsFunc(slices.Concat(s.Set, s.Where), func(a Assign) bool {
		switch v := a.Value; {
		case a.Column != c:
			return false
		case v.Kind == ElemValue:
			return s.Each.HoldsSensitive() && (v.Field == nil || s.Each.Sensitive || v.Field.HoldsSensitive())
		default:
			return v.Kind == FieldValue && v.Field.HoldsSensitive()
		}
	})
}
