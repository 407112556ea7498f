package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/schema"
)

// checkShared reports columns that several steps overwrite although nothing orders the
// steps against each other: from two topics without if_newer (E505), or with different
// if_newer columns (E503, E505).
func checkShared(report *schema.Diagnostics, d *draft) {
	earlier := map[*table][]overwriter{} // of steps that are alike the first one
	for _, st := range d.steps() {
		if !st.whole || !st.model.Changes {
			continue
		}
		o := overwriterOf(st)
		conflicts := func(before overwriter) bool { return !comparable(before, o) && before.shares(o) }
		if i := slices.IndexFunc(earlier[st.table], conflicts); i >= 0 && !st.event.topic.orderUnknown {
			failShared(report, earlier[st.table][i], o)
		}
		if !slices.ContainsFunc(earlier[st.table], o.alike) {
			earlier[st.table] = append(earlier[st.table], o)
		}
	}
}

// overwriter is a step that writes into rows that exist, and what orders it.
type overwriter struct {
	*step
	ordered bool      // by the topic
	columns []*column // that it overwrites, in the table's order
}

// overwriterOf leaves out the columns that find the row: they are equal in both steps.
func overwriterOf(st *step) overwriter {
	o := overwriter{step: st, ordered: ordered(st)}
	for _, c := range st.table.columns {
		if _, writes := st.set[c]; writes && !slices.Contains(st.model.By, c.model) {
			o.columns = append(o.columns, c)
		}
	}
	return o
}

// alike reports whether two steps conflict with the same others.
func (o overwriter) alike(other overwriter) bool {
	return o.event.topic == other.event.topic && o.model.IfNewer == other.model.IfNewer && o.ordered == other.ordered && slices.Equal(o.columns, other.columns)
}

func (o overwriter) shares(other overwriter) bool {
	return slices.ContainsFunc(o.columns, func(c *column) bool { return slices.Contains(other.columns, c) })
}

// comparable reports whether something orders what two steps write into one column.
func comparable(a, b overwriter) bool {
	guarded := a.model.IfNewer != nil && b.model.IfNewer != nil
	switch {
	case guarded && a.model.IfNewer == b.model.IfNewer:
		return true
	case a.event.topic != b.event.topic:
		return false
	}
	return !guarded || a.ordered && b.ordered // a step without guard is ordered, or E503
}

// failShared reports two steps that are not comparable.
func failShared(report *schema.Diagnostics, a, b overwriter) {
	var columns []string
	for _, c := range a.columns {
		if slices.Contains(b.columns, c) {
			columns = append(columns, c.spec.Name.Value)
		}
	}
	what, verb := "column "+quote(columns[0]), "is"
	if len(columns) > 1 {
		what, verb = "columns "+quotedList(columns), "are"
	}
	what = fmt.Sprintf("%s of %s %s", what, quote(b.spec.Table.Value), verb)
	ta, tb := a.event.topic, b.event.topic
	from := fmt.Sprintf("%s written from topics %s and %s", what, quote(ta.spec.Name.Value), quote(tb.spec.Name.Value))
	switch {
	case ta == tb:
		report.Add(b.spec.IfNewer.Pos, "E503", fmt.Sprintf("%s: an older event could overwrite a newer one: %s guarded by %s here, and by %s in event %s",
			b.event.is(), what, quote(b.model.IfNewer.Name), quote(a.model.IfNewer.Name), quote(a.event.spec.Name.Value)),
			"compare one column in each of these steps")
	case a.model.IfNewer == nil || b.model.IfNewer == nil:
		unguarded := b
		if b.model.IfNewer != nil {
			unguarded = a
		}
		report.Add(unguarded.spec.Verb.Pos, "E505", from+", which nothing orders against each other", "add if_newer to each of these steps")
	default:
		report.Add(b.spec.IfNewer.Pos, "E505", fmt.Sprintf("%s, which compare different columns: %s and %s", from, quote(a.model.IfNewer.Name), quote(b.model.IfNewer.Name)),
			"compare one column in each of these steps")
	}
}
