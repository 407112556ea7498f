package gocode

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// marks are the calls that declare to the batch which rows a step reads and writes, so that the
// batch knows when a wave must end. Rows on which no other step of the topic depends are left out.
type marks struct {
	step  *model.Step
	calls []code
	own   string // the method of Batch that declares the write of the row itself; "" if it is not declared
}

// add writes the calls and a comment that explains them.
func (m *marks) add(g *group) {
	if len(m.calls) == 0 {
		return
	}
	comment(g, m.why())
	for _, call := range m.calls {
		g.Add(call)
	}
}

// why explains the calls.
func (m *marks) why() string {
	if m.own == "" {
		return "The new row needs these rows: the current wave ends if that wave might change them afterwards."
	}
	why := map[string]string{
		"Upserts":    "A wave may have several versions of this row: the statement merges them.",
		"Gathers":    "A wave may have several events for this row: the statement combines them.",
		"Puts":       "Puts ends the current wave if that wave already writes this row or refers to it.",
		"PutsAll":    "The step does not name the whole primary key: PutsAll ends the current wave if that wave already writes the table or refers to it.",
		"Deletes":    "Deletes ends the current wave if that wave already writes this row.",
		"DeletesAll": "DeletesAll ends the current wave if that wave already writes the table.",
	}[m.own]
	if len(m.calls) > 1 {
		why += " The calls before " + m.own + " check the other rows that this write needs or changes."
	}
	return why
}

// marksOf are a step's marks. The row's own write comes last.
func marksOf(s *model.Step) *marks {
	m := &marks{step: s}
	t := s.Event.Topic
	for _, r := range s.Reads {
		if changes(t, r.Table) {
			m.reads(r)
		}
	}
	for _, child := range s.Cascades {
		if touches(t, child) {
			m.calls = append(m.calls, text("b.Touches(%q)", child.Name))
		}
	}
	for _, fk := range s.Unlinks {
		if restricts(fk) && deletes(t, fk.References) {
			m.calls = append(m.calls, text("b.Unlinks(%q)", fk.References.Name))
		}
	}
	switch {
	case onlyFreshRows(t, s.Table):
	case s.Collapse:
		row, ok := rowID(m.step, s.Table, keyValues(s))
		if !ok { // then all rows count as one
			row = wire("Row").Call(lit(s.Table.Name))
		}
		m.own = "Upserts"
		m.calls = append(m.calls, call("b.Upserts", row))
	case s.Removes:
		m.writes("Deletes")
	case s.Gathers:
		m.gathers()
	default:
		m.writes("Puts")
	}
	return m
}

func (m *marks) reads(r model.ParentRow) {
	var read code
	if r.Values == nil || putLater(m.step, r.Table) {
		read = text("b.Touches(%q)", r.Table.Name)
	} else if row, ok := rowID(m.step, r.Table, r.Values); ok {
		read = call("b.Reads", row)
	} else { // the table's own steps name no row either
		read = call("b.Reads", wire("Row").Call(lit(r.Table.Name)))
	}
	condition := ""
	for _, v := range r.Values {
		if v.Optional() {
			if condition != "" {
				condition += " && "
			}
			condition += source(m.step, v) + " != nil"
		}
	}
	if condition != "" {
		read = ifThen(text(condition), read)
	}
	m.calls = append(m.calls, read)
}

// putLater reports whether a wave writes rows of a table after those of the step, as can be
// where a table is its own parent: a parent put earlier in a wave would not be there yet.
func putLater(s *model.Step, table *model.Table) bool {
	flush := s.Event.Topic.Flush
	return slices.ContainsFunc(flush[slices.Index(flush, s)+1:], func(o *model.Step) bool {
		return o.Table == table && (o.Makes || o.Changes)
	})
}

// gathers adds the write of a step whose statement takes any number of events of a row. Steps that
// only add to a row share a wave, whatever their order; one that may make the row shares it with
// no other.
func (m *marks) gathers() {
	s := m.step
	row, ok := rowID(m.step, s.Table, keyValues(s))
	if !ok {
		m.writes("Puts")
		return
	}
	kind := "+"
	if s.Makes {
		kind = s.GoName
	}
	m.own = "Gathers"
	m.calls = append(m.calls, call("b.Gathers", row, lit(kind)))
}

// writes adds the row's own write.
func (m *marks) writes(method string) {
	s := m.step
	if !s.Whole {
		if row, ok := rowID(m.step, s.Table, keyValues(s)); ok {
			m.own = method
			m.calls = append(m.calls, call("b."+method, row))
			return
		}
	}
	m.own = method + "All"
	m.calls = append(m.calls, text("b.%s(%q)", m.own, s.Table.Name))
}

// keyValues are the step's values of the primary key, nil if it does not name all of it.
func keyValues(s *model.Step) []model.Value {
	assigns := s.Names()
	var values []model.Value
	for _, c := range s.Table.PrimaryKey {
		at := slices.IndexFunc(assigns, func(a model.Assign) bool { return a.Column == c })
		if at < 0 || assigns[at].Value.Optional() {
			return nil
		}
		values = append(values, assigns[at].Value)
	}
	return values
}

// onlyFreshRows reports whether all that the topic does to a table is to insert rows whose
// key the database makes: they can collide with nothing.
func onlyFreshRows(t *model.Topic, table *model.Table) bool {
	return !slices.ContainsFunc(t.Flush, func(s *model.Step) bool {
		if s.Table == table {
			return !s.OnlyMakes() || keyValues(s) != nil
		}
		return slices.Contains(s.Cascades, table)
	})
}

// changes reports whether a step of the topic may write rows of a table.
func changes(t *model.Topic, table *model.Table) bool {
	return slices.ContainsFunc(t.Flush, func(s *model.Step) bool {
		return s.Table == table && !onlyFreshRows(t, table) || slices.Contains(s.Cascades, table)
	})
}

// touches reports whether a step of the topic writes a table or names its rows as parents.
func touches(t *model.Topic, table *model.Table) bool {
	return changes(t, table) || slices.ContainsFunc(t.Flush, func(s *model.Step) bool {
		return s.Table == table || slices.ContainsFunc(s.Reads, func(r model.ParentRow) bool { return r.Table == table })
	})
}

func deletes(t *model.Topic, table *model.Table) bool {
	return slices.ContainsFunc(t.Flush, func(s *model.Step) bool {
		return s.Removes && s.Table == table || slices.Contains(s.Cascades, table)
	})
}

func restricts(fk model.ForeignKey) bool {
	return fk.OnDelete != "cascade" && fk.OnDelete != "set_null"
}
