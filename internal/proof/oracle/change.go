package oracle

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// tx is one event's changes: it can take them back.
type tx struct {
	store  *store
	log    []func() // how to take each change back
	wrote  []written
	vacant []vacancy
}

type written struct {
	table *table
	row   *row
}

func refused(detail string) *fault { return &fault{class: ClassDatabase, detail: detail} }

func (x *tx) undo() {
	for _, back := range slices.Backward(x.log) {
		back()
	}
}

// insert adds a row; columns that set does not name get their default.
func (x *tx) insert(t *table, set []assigned) *fault {
	r := &row{cells: make([]cell, len(t.def.Columns))}
	for i, c := range t.def.Columns {
		at := slices.IndexFunc(set, func(a assigned) bool { return a.column == c })
		if at >= 0 {
			r.cells[i] = set[at].cell
			continue
		}
		v, f := x.initial(c)
		if f != nil {
			return f
		}
		r.cells[i] = v
	}
	if f := t.check(r, r.cells); f != nil {
		return f
	}
	t.link(r)
	x.log = append(x.log, func() { t.unlink(r) })
	x.wrote = append(x.wrote, written{t, r})
	return nil
}

// initial is what the database puts into a column that an insert leaves out.
func (x *tx) initial(c *model.Column) (cell, *fault) {
	switch {
	case c.ByDatabase() || c.Default != nil && c.Default.Func != "":
		return x.store.fill(), nil
	case c.Default != nil && c.Default.Const != nil:
		return constant(c, c.Default.Const.Text)
	}
	return nil, nil
}

// update changes columns of a row. Children that name it by its old primary key are
// looked at when the event ends.
func (x *tx) update(t *table, r *row, set []assigned) *fault {
	before, after := r.cells, slices.Clone(r.cells)
	for _, a := range set {
		after[t.column(a.column)] = a.cell
	}
	if f := t.check(r, after); f != nil {
		return f
	}
	t.unlink(r)
	r.cells = after
	t.link(r)
	x.log = append(x.log, func() {
		t.unlink(r)
		r.cells = before
		t.link(r)
	})
	x.wrote = append(x.wrote, written{t, r})
	old, _ := t.unique[0].key(before)
	if now, _ := t.unique[0].key(after); now != old {
		x.vacant = append(x.vacant, vacancy{parent: t, key: old, mayReturn: true})
	}
	return nil
}

// remove deletes a row and does to its children what their foreign keys say.
func (x *tx) remove(t *table, r *row) *fault {
	t.unlink(r)
	x.log = append(x.log, func() { t.link(r) })
	return x.orphan(t, r)
}

// check refuses NULL where it is not allowed and a second row with one unique key.
func (t *table) check(r *row, cells []cell) *fault {
	for i, c := range t.def.Columns {
		if cells[i] == nil && (!c.Nullable || slices.Contains(t.def.PrimaryKey, c)) {
			return refused("NULL in column " + c.Name)
		}
	}
	for _, ix := range t.unique {
		k, ok := ix.key(cells)
		if ok && slices.ContainsFunc(ix.rows[k], func(o *row) bool { return o != r }) {
			return refused("a row with this key exists in " + t.def.Name)
		}
	}
	return nil
}
