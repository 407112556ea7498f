package oracle

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// vacancy is a parent's key that an event took away. No child may name it when the event
// ends: after a delete even if another row has the key by then, after an update only if
// none has.
type vacancy struct {
	parent    *table
	key       string
	mayReturn bool
	refs      []reference // nil = all
}

// reference is one foreign key of a child table.
type reference struct {
	child *table
	index *index
	key   model.ForeignKey
}

func (s *store) references(parent *table) []reference {
	var refs []reference
	for _, t := range s.order {
		for i, fk := range t.def.ForeignKeys {
			if s.byDef[fk.References] == parent {
				refs = append(refs, reference{t, t.refers[i], fk})
			}
		}
	}
	return refs
}

// orphan does what on_delete says to the children of a deleted row: cascade and set_null
// at once, restrict when the event ends, so that its own steps may remove the children
// first or later.
func (x *tx) orphan(t *table, r *row) *fault {
	key, _ := t.unique[0].key(r.cells)
	for _, ref := range x.store.references(t) {
		children := slices.Clone(ref.index.rows[key])
		switch ref.key.OnDelete {
		case "cascade":
			for _, c := range children {
				if !ref.child.rows[c] {
					continue // went with another row of this cascade
				}
				if f := x.remove(ref.child, c); f != nil {
					return f
				}
			}
		case "set_null":
			var set []assigned
			for _, c := range ref.key.Columns {
				set = append(set, assigned{column: c})
			}
			for _, c := range children {
				if f := x.update(ref.child, c, set); f != nil {
					return f
				}
			}
		default:
			if len(children) > 0 {
				x.vacant = append(x.vacant, vacancy{parent: t, key: key, refs: []reference{ref}})
			}
		}
	}
	return nil
}

// checkForeignKeys looks at the rows that were written since the last step, and at the parents
// that the event took away.
func (x *tx) checkForeignKeys() *fault {
	if f := x.checkWritten(); f != nil {
		return f
	}
	for _, v := range x.vacant {
		refs := v.refs
		if refs == nil {
			refs = x.store.references(v.parent)
		}
		for _, ref := range refs {
			named := len(ref.index.rows[v.key]) > 0
			if named && !(v.mayReturn && len(v.parent.unique[0].rows[v.key]) > 0) {
				return refused(ref.child.def.Name + " still names a removed row of " + v.parent.def.Name)
			}
		}
	}
	return nil
}

// checkWritten looks at the rows that a step wrote, when the whole step was done: what a later one
// does cannot make them right. A foreign key with a NULL column is satisfied.
func (x *tx) checkWritten() *fault {
	for _, w := range x.wrote {
		if !w.table.rows[w.row] {
			continue // went with a parent that the step removed
		}
		for i, fk := range w.table.def.ForeignKeys {
			parent := x.store.byDef[fk.References]
			key, ok := w.table.refers[i].key(w.row.cells)
			if ok && len(parent.unique[0].rows[key]) == 0 {
				return refused(w.table.def.Name + " refers to a row of " + parent.def.Name + " that does not exist")
			}
		}
	}
	x.wrote = nil
	return nil
}
