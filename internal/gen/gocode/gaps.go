package gocode

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// left names the first event with a step that makes rows without a value for a column that may be
// NULL; "" if there is none.
func left(s *model.Service, c *model.Column) string {
	return firstEvent(s, c, func(st *model.Step) bool {
		given := func(a model.Assign) bool { return a.Column == c }
		return st.Makes && !slices.ContainsFunc(st.Set, given) && !slices.ContainsFunc(st.Where, given)
	})
}

// null names the first event with a step that may write NULL to a column; "" if there is none.
func null(s *model.Service, c *model.Column) string {
	return firstEvent(s, c, func(st *model.Step) bool {
		return slices.ContainsFunc(st.Set, func(a model.Assign) bool {
			// A patch that is absent leaves an old row as it is, and is NULL in a new one.
			whenThere := a.Value.Patch() && !st.Makes && !a.Value.Field.Type.Optional
			return a.Column == c && a.Value.Optional() && !whenThere
		})
	})
}

// firstEvent names the first event with such a step on the table of a nullable column.
func firstEvent(s *model.Service, c *model.Column, is func(*model.Step) bool) string {
	if !c.Nullable || c.ByDatabase() {
		return ""
	}
	for _, t := range s.Topics {
		for _, e := range t.Events {
			for _, st := range e.Steps {
				if slices.Contains(st.Table.Columns, c) && is(st) {
					return e.Name
				}
			}
		}
	}
	return ""
}

// texts are those that steps write to a column of a type of the team's.
func texts(s *model.Service, c *model.Column) []string {
	if c.Type.Kind != model.ColNamed {
		return nil
	}
	return s.TextsOf(c)
}
