package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// related reports whether two events touch one row: both write it, or one writes what the
// other names as a parent.
func (p *planner) related(a, b *model.Event) bool {
	writesA, readsA := p.touches(a)
	writesB, readsB := p.touches(b)
	for t := range writesA {
		if writesB[t] || readsB[t] {
			return true
		}
	}
	for t := range readsA {
		if writesB[t] {
			return true
		}
	}
	return false
}

// touches returns the tables of which the event writes rows that other records may touch
// too, and those of which it names rows.
func (p *planner) touches(e *model.Event) (writes, reads map[*model.Table]bool) {
	writes, reads = map[*model.Table]bool{}, map[*model.Table]bool{}
	for _, s := range e.Steps {
		if !p.ownRow(s) {
			writes[s.Table] = true
		}
		for _, t := range s.Cascades {
			writes[t] = true
		}
		for _, t := range p.parents(s) {
			reads[t] = true
		}
	}
	return writes, reads
}

// ownRow reports whether the step inserts a row that no other record touches.
func (p *planner) ownRow(s *model.Step) bool {
	return slices.ContainsFunc(s.Set, func(a model.Assign) bool {
		return a.Value.Kind == model.FieldValue && slices.Contains(s.Table.PrimaryKey, a.Column) && p.roles.byRecord[byRecord{s.Event, a.Value.Field}]
	}) || slices.ContainsFunc(s.Table.PrimaryKey, func(c *model.Column) bool {
		return !slices.ContainsFunc(s.Set, func(a model.Assign) bool { return a.Column == c }) && s.Verb == model.Insert
	})
}

// parents are the tables whose rows the step names.
func (p *planner) parents(s *model.Step) []*model.Table {
	var out []*model.Table
	for _, fk := range s.Table.ForeignKeys {
		named := slices.ContainsFunc(s.Set, func(a model.Assign) bool {
			return slices.Contains(fk.Columns, a.Column) && a.Value.Kind != model.NullValue && !p.roles.absent[a.Value.Field]
		})
		if named {
			out = append(out, fk.References)
		}
	}
	return out
}

// state is what is known of one row identity: which tables have a row of it, and which
// key spaces it has used up. Comparable.
type state string

func (s state) has(i int) bool { return s[i] == 1 }

func (s state) with(i int, on bool) state {
	b := []byte(s)
	b[i] = 0
	if on {
		b[i] = 1
	}
	return state(b)
}

// apply tells whether the event would take effect, and what is there afterwards. It
// follows the steps in order as far as existence of rows goes.
func (p *planner) apply(e *model.Event, before state) (after state, ok bool) {
	after = before
	for _, s := range e.Steps {
		i := p.bit[s.Table]
		switch s.Verb {
		case model.Insert:
			if !p.ownRow(s) && after.has(i) && s.IfExists != "skip" {
				return before, false
			}
			after = after.with(i, true)
		case model.Upsert:
			after = after.with(i, true)
		case model.Update:
			if !after.has(i) && s.IfMissing != "skip" {
				return before, false
			}
		case model.Delete:
			after = after.with(i, false)
			for _, t := range s.Cascades {
				if bit, known := p.bit[t]; known && cascades(t, s.Table, s.Cascades) {
					after = after.with(bit, false)
				}
			}
		}
	}
	if !p.whole(e, after) {
		return before, false
	}
	if space, once := p.once[e]; once {
		after = after.with(space, true)
	}
	return after, true
}

// cascades reports whether rows of t go with the row of parent.
func cascades(t, parent *model.Table, through []*model.Table) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(fk model.ForeignKey) bool {
		return fk.OnDelete == "cascade" && (fk.References == parent || slices.Contains(through, fk.References))
	})
}

// whole reports whether every parent that the event names is there, and no child is left
// whose parent the event deleted.
func (p *planner) whole(e *model.Event, after state) bool {
	for _, s := range e.Steps {
		if s.Verb == model.Delete {
			for t, bit := range p.bit {
				restricted := slices.ContainsFunc(t.ForeignKeys, func(fk model.ForeignKey) bool {
					return fk.References == s.Table && fk.References != t && fk.OnDelete != "cascade" && fk.OnDelete != "set_null"
				})
				if restricted && after.has(bit) {
					return false
				}
			}
			continue
		}
		for _, t := range p.parents(s) {
			bit, known := p.bit[t]
			if !known || !after.has(bit) {
				return false
			}
		}
	}
	return true
}
