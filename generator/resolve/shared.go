package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
)

// checkShared reports columns that several steps overwrite although nothing orders the
// steps against each other: from two topics without if_newer (E505), or with different
// if_newer columns (E503, E505).
func (r *resolver) checkShared() {
	steps := r.steps()
	for i, st := range steps {
		if !st.whole || st.event.topic.orderUnknown {
			continue
		}
		if st.model.Removes {
			r.checkCreators(st, steps)
			continue
		}
		for _, other := range steps[:i] {
			if other.table == st.table && other.whole && !r.comparable(other, st) {
				break
			}
		}
	}
}

// comparable reports whether two steps that overwrite a column are ordered against each
// other, and fails if not.
func (r *resolver) comparable(a, b *step) bool {
	columns := overwrittenByBoth(a, b)
	if len(columns) == 0 {
		return true
	}
	what := "column " + quote(columns[0])
	if len(columns) > 1 {
		what = "columns " + quotedList(columns)
	}
	verb := map[bool]string{true: "is", false: "are"}[len(columns) == 1]
	ta, tb := a.event.topic, b.event.topic
	bothGuarded := a.model.IfNewer != nil && b.model.IfNewer != nil
	switch {
	case bothGuarded && a.model.IfNewer == b.model.IfNewer:
		return true
	case ta != tb && !bothGuarded:
		unguarded := b
		if b.model.IfNewer != nil {
			unguarded = a
		}
		r.fail(unguarded.spec.Verb.Pos, "E505", fmt.Sprintf("%s of %s %s written from topics %s and %s, which nothing orders against each other",
			what, quote(b.spec.Table.Value), verb, quote(ta.spec.Name.Value), quote(tb.spec.Name.Value)), "add if_newer to each of these steps")
	case ta != tb:
		r.fail(b.spec.IfNewer.Pos, "E505", fmt.Sprintf("%s of %s %s written from topics %s and %s, which compare different columns: %s and %s",
			what, quote(b.spec.Table.Value), verb, quote(ta.spec.Name.Value), quote(tb.spec.Name.Value), quote(a.model.IfNewer.Name), quote(b.model.IfNewer.Name)),
			"compare one column in each of these steps")
	case bothGuarded && !(a.ordered() && b.ordered()):
		r.fail(b.spec.IfNewer.Pos, "E503", fmt.Sprintf("%s: an older event could overwrite a newer one: %s of %s %s guarded by %s here, and by %s in event %s",
			b.event.is(), what, quote(b.spec.Table.Value), verb, quote(b.model.IfNewer.Name), quote(a.model.IfNewer.Name), quote(a.event.spec.Name.Value)),
			"compare one column in each of these steps")
	default: // one topic; a step without guard is ordered, or E503
		return true
	}
	return false
}

// overwrittenByBoth are the columns that both steps write into rows that exist, in the
// table's order. What finds the row is equal in both and does not count.
func overwrittenByBoth(a, b *step) []string {
	var names []string
	for _, c := range a.table.columns {
		if overwrites(a, c) && overwrites(b, c) {
			names = append(names, c.spec.Name.Value)
		}
	}
	return names
}

func overwrites(st *step, c *column) bool {
	if !st.model.Changes || containsColumns(st.model.By, []*model.Column{c.model}) {
		return false
	}
	_, writes := st.set[c]
	return writes
}

// checkCreators reports a delete of rows that another topic creates (E504).
func (r *resolver) checkCreators(st *step, steps []*step) {
	if !st.ordered() {
		return // reported by checkOrder
	}
	for _, other := range steps {
		if other.table == st.table && other.model.Makes && other.event.topic != st.event.topic {
			r.fail(st.spec.Verb.Pos, "E504", fmt.Sprintf("%s: a late event could create the deleted row again: topic %s creates rows of %s too, and nothing orders the two topics against each other",
				st.event.is(), quote(other.event.topic.spec.Name.Value), quote(st.spec.Table.Value)), "keep the row and mark it with update")
			return
		}
	}
}
