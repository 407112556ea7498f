package oracle

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// store holds every table.
type store struct {
	order  []*table
	byDef  map[*model.Table]*table
	filled int // how many values the database made
}

// table holds rows and finds them by unique key and by what their foreign keys name.
type table struct {
	def    *model.Table
	rows   map[*row]bool
	unique []*index // the primary key first
	refers []*index // one per foreign key, in the order of def.ForeignKeys
}

type row struct{ cells []cell }

// index finds rows by the identity of some columns; rows with NULL there are not in it.
type index struct {
	columns []int
	types   []model.ColType
	rows    map[string][]*row
}

func newStore(defs []*model.Table) *store {
	s := &store{byDef: map[*model.Table]*table{}}
	for _, def := range defs {
		t := &table{def: def, rows: map[*row]bool{}}
		for _, columns := range append([][]*model.Column{def.PrimaryKey}, def.Unique...) {
			t.unique = append(t.unique, newIndex(def, columns, columns))
		}
		for _, fk := range def.ForeignKeys {
			t.refers = append(t.refers, newIndex(def, fk.Columns, fk.References.PrimaryKey))
		}
		s.order = append(s.order, t)
		s.byDef[def] = t
	}
	return s
}

// newIndex compares columns as values of the types of like.
func newIndex(def *model.Table, columns, like []*model.Column) *index {
	ix := &index{rows: map[string][]*row{}}
	for i, c := range columns {
		ix.columns = append(ix.columns, slices.Index(def.Columns, c))
		ix.types = append(ix.types, like[i].Type)
	}
	return ix
}

// key is the identity of a row in the index; false if a column is NULL.
func (ix *index) key(cells []cell) (string, bool) {
	picked := make([]cell, len(ix.columns))
	for i, c := range ix.columns {
		picked[i] = cells[c]
	}
	return ix.keyOf(picked)
}

func (ix *index) keyOf(cells []cell) (string, bool) {
	var b strings.Builder
	for i, c := range cells {
		text, ok := identity(ix.types[i], c)
		if !ok {
			return "", false
		}
		b.WriteString(content(text))
	}
	return b.String(), true
}

func (ix *index) add(r *row) {
	if k, ok := ix.key(r.cells); ok {
		ix.rows[k] = append(ix.rows[k], r)
	}
}

func (ix *index) remove(r *row) {
	k, ok := ix.key(r.cells)
	if !ok {
		return
	}
	if rest := slices.DeleteFunc(ix.rows[k], func(o *row) bool { return o == r }); len(rest) > 0 {
		ix.rows[k] = rest
	} else {
		delete(ix.rows, k)
	}
}

func (t *table) column(c *model.Column) int { return slices.Index(t.def.Columns, c) }

func (t *table) link(r *row) {
	t.rows[r] = true
	for _, ix := range slices.Concat(t.unique, t.refers) {
		ix.add(r)
	}
}

func (t *table) unlink(r *row) {
	delete(t.rows, r)
	for _, ix := range slices.Concat(t.unique, t.refers) {
		ix.remove(r)
	}
}

// find returns the rows whose columns equal the cells; NULL equals nothing.
func (t *table) find(where []assigned) []*row {
	var found []*row
	for r := range t.candidates(where) {
		same := !slices.ContainsFunc(where, func(w assigned) bool {
			a, okA := identity(w.column.Type, w.cell)
			b, okB := identity(w.column.Type, r.cells[t.column(w.column)])
			return !okA || !okB || a != b
		})
		if same {
			found = append(found, r)
		}
	}
	t.sort(found)
	return found
}

// candidates narrows a search by a unique or foreign key if where names a whole one.
func (t *table) candidates(where []assigned) map[*row]bool {
	for _, ix := range slices.Concat(t.unique, t.refers) {
		cells := make([]cell, len(ix.columns))
		for i, c := range ix.columns {
			at := slices.IndexFunc(where, func(w assigned) bool { return t.column(w.column) == c })
			if at < 0 {
				cells = nil
				break
			}
			cells[i] = where[at].cell
		}
		if cells == nil {
			continue
		}
		one := map[*row]bool{}
		if k, ok := ix.keyOf(cells); ok {
			for _, r := range ix.rows[k] {
				one[r] = true
			}
		}
		return one
	}
	return t.rows
}

// sort puts rows into primary key order.
func (t *table) sort(rows []*row) {
	slices.SortFunc(rows, func(a, b *row) int {
		for _, c := range t.unique[0].columns {
			if n := compareCells(t.def.Columns[c].Type, a.cells[c], b.cells[c]); n != 0 {
				return n
			}
		}
		return 0
	})
}

func (t *table) sorted() []*row {
	rows := make([]*row, 0, len(t.rows))
	for r := range t.rows {
		rows = append(rows, r)
	}
	t.sort(rows)
	return rows
}

// fill makes a value as the database would.
func (s *store) fill() cell {
	s.filled++
	return filled{s.filled}
}
