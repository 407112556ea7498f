package waves

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// branches says which steps tell others to which rows they were applied, and which steps ask. It
// returns the order of a wave's statements in which those that tell run before those that ask, as
// far as parents may still be written before their children.
func branches(order []*model.Step) []*model.Step {
	for _, st := range order {
		if of := st.Under.Of; of != nil && of.Skips() {
			st.Asks, of.Tells = true, true
		}
		for _, em := range st.Event.Emits {
			if em.Under.Of == st && em.Asks() {
				st.Tells = true
			}
		}
	}
	for _, of := range slices.Clone(order) {
		if !of.Tells {
			continue
		}
		behind := slices.Index(order, of)
		for _, st := range of.Event.Steps {
			at := slices.Index(order, st)
			if st.Under.Of != of || at > behind {
				continue
			}
			if of.Removes || st.Makes && needed(st, order[at+1:behind+1]) {
				st.Apart = true
				continue
			}
			order = slices.Insert(slices.Delete(order, at, at+1), behind, st) // of moves one place forward
		}
	}
	return order
}

// needed reports whether one of the others may name a row as parent that the step makes.
func needed(st *model.Step, others []*model.Step) bool {
	return slices.ContainsFunc(others, func(o *model.Step) bool {
		return o.Table != st.Table && slices.ContainsFunc(o.Table.ForeignKeys, func(fk model.ForeignKey) bool { return fk.References == st.Table })
	})
}

// follows reports whether a wave's statements by which the step's event may have written the same
// row all run before that of the step, and leave one row of a key.
func follows(st *model.Step, order []*model.Step) bool {
	if !st.Asks || st.Apart || st.Whole || st.Removes || st.Table != st.Under.Of.Table {
		return false
	}
	for _, o := range st.Event.Steps[:slices.Index(st.Event.Steps, st)] {
		if o.Table == st.Table && (o.Removes || o.Whole || slices.Index(order, o) > slices.Index(order, st)) {
			return false
		}
	}
	return true
}
