package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkShared reports columns that several steps overwrite although nothing orders the
// steps against each other: from two topics without if_newer (E505), or with different
// if_newer columns (E503, E505). Or one if_newer column guards other columns in each (E503).
func checkShared(report *syntax.Diagnostics, d *draft.Service) {
	earlier := map[*draft.Table][]overwriter{} // of steps that are alike the first one
	for _, st := range d.Steps() {
		if !st.Whole || !st.Model.Changes {
			continue
		}
		o := overwriterOf(st)
		conflicts := func(before overwriter) bool { return !comparable(before, o) && before.shares(o) }
		if i := slices.IndexFunc(earlier[st.Table], conflicts); i >= 0 && !st.Event.Topic.OrderUnknown {
			failShared(report, earlier[st.Table][i], o)
		} else if i := slices.IndexFunc(earlier[st.Table], o.parts); i >= 0 && !st.Event.Topic.OrderUnknown {
			failParts(report, earlier[st.Table][i], o)
		}
		if !slices.ContainsFunc(earlier[st.Table], o.alike) {
			earlier[st.Table] = append(earlier[st.Table], o)
		}
	}
}

// overwriter is a step that writes into rows that exist, and what orders it.
type overwriter struct {
	*draft.Step
	ordered bool            // by the topic
	guard   *model.Column   // that if_newer compares; nil if it has none
	patches bool            // it may leave some of its columns as they are
	marks   bool            // it writes only constants beside what is compared
	columns []*draft.Column // that it overwrites, in the table's order
	filled  filled          // if it is ordered
}

// overwriterOf leaves out the columns that find the row: they are equal in both steps.
func overwriterOf(st *draft.Step) overwriter {
	o := overwriter{Step: st, ordered: ordered(st), guard: st.Model.If.Newer, patches: writesPatches(st)}
	if o.ordered {
		o.filled = filledBy(st)
	}
	data := false
	for _, c := range st.Table.Columns {
		if v, writes := st.Set[c]; writes && v.How == model.Overwrites && !slices.Contains(st.Model.By, c.Model) {
			o.columns = append(o.columns, c)
			constant := v.Model.Kind == model.ConstValue || v.Model.Kind == model.NullValue
			o.marks, data = o.marks || constant, data || !constant && c.Model != o.guard
		}
	}
	o.marks = o.marks && !data
	return o
}

func (o overwriter) guardPos() syntax.Pos {
	if o.Spec.If.Newer != nil {
		return o.Spec.If.Newer.Pos
	}
	return o.Spec.Verb.Pos
}

// alike reports whether two steps conflict with the same others.
func (o overwriter) alike(other overwriter) bool {
	return o.Event.Topic == other.Event.Topic && o.guard == other.guard && o.ordered == other.ordered &&
		o.patches == other.patches && o.marks == other.marks && slices.Equal(o.columns, other.columns) && maps.Equal(o.filled, other.filled)
}

func (o overwriter) shares(other overwriter) bool {
	return slices.ContainsFunc(o.columns, func(c *draft.Column) bool { return slices.Contains(other.columns, c) })
}

// parts reports whether two steps move one version on and write other columns, so that the older
// event of the two is lost where it comes late. A row that is marked as deleted may lose them.
func (o overwriter) parts(other overwriter) bool {
	return o.guard != nil && o.guard == other.guard && o.Event != other.Event && !inOrder(o, other) && !o.told() && !other.told() &&
		(!other.marks && len(o.beside(other)) > 0 || !o.marks && len(other.beside(o)) > 0)
}

// beside are the columns that the other step does not write.
func (o overwriter) beside(other overwriter) (names []string) {
	for _, c := range o.columns {
		if !slices.Contains(other.columns, c) {
			names = append(names, c.Spec.Name.Value)
		}
	}
	return names
}

// failParts reports two steps that hold parts of a row under one version.
func failParts(report *syntax.Diagnostics, a, b overwriter) {
	if len(b.beside(a)) == 0 || a.marks {
		a, b = b, a
	}
	report.Add(b.guardPos(), "E503", fmt.Sprintf("%s: a late event would be lost: event %s advances %s but does not write %s", b.Event.Is(),
		wording.Quote(a.Event.Spec.Name.Value), wording.Quote(b.guard.Name), wording.QuotedList(b.beside(a))),
		"compare a separate version for each group of columns"+orIfSoOrdered(b.Step, a.Step))
}

// comparable reports whether something orders what two steps write into one column.
func comparable(a, b overwriter) bool {
	if inOrder(a, b) || a.Event.Topic == b.Event.Topic && (a.told() || b.told()) {
		return true
	}
	return a.guard != nil && a.guard == b.guard && !a.patches && !b.patches
}

// inOrder reports whether two steps come to a row in an order that does not change.
func inOrder(a, b overwriter) bool {
	return a.Event.Topic == b.Event.Topic && a.ordered && b.ordered && sameRecordKey(a.Event.Topic, a.filled, b.filled)
}

// told reports whether checkOrder judges the step by itself: nothing orders it but a guard.
func (o overwriter) told() bool {
	return !o.ordered && (o.guard == nil || o.patches)
}

// failShared reports two steps that are not comparable.
func failShared(report *syntax.Diagnostics, a, b overwriter) {
	var columns []string
	for _, c := range a.columns {
		if slices.Contains(b.columns, c) {
			columns = append(columns, c.Spec.Name.Value)
		}
	}
	what, verb := "column "+wording.Quote(columns[0]), "is"
	if len(columns) > 1 {
		what, verb = "columns "+wording.QuotedList(columns), "are"
	}
	what = fmt.Sprintf("%s of %s %s", what, wording.Quote(b.Spec.Table.Value), verb)
	ta, tb := a.Event.Topic, b.Event.Topic
	from := fmt.Sprintf("%s written from topics %s and %s", what, wording.Quote(ta.Spec.Name.Value), wording.Quote(tb.Spec.Name.Value))
	guarded := a.guard != nil && b.guard != nil
	switch {
	case guarded && a.guard == b.guard && ta == tb:
		report.Add(b.guardPos(), "E503", fmt.Sprintf("%s: a late patch would be lost: %s also written by event %s, and nothing orders the two", b.Event.Is(), what, wording.Quote(a.Event.Spec.Name.Value)),
			wholeValues)
	case guarded && a.guard == b.guard:
		report.Add(b.guardPos(), "E505", from+", which nothing orders relative to each other: a late patch would be lost", wholeValues)
	case guarded && ta == tb:
		report.Add(b.guardPos(), "E503", fmt.Sprintf("%s: an older event could overwrite a newer one: %s guarded by %s here, and by %s in event %s",
			b.Event.Is(), what, wording.Quote(b.guard.Name), wording.Quote(a.guard.Name), wording.Quote(a.Event.Spec.Name.Value)),
			"compare the same column in each of these steps")
	case ta == tb:
		report.Add(b.guardPos(), "E503", fmt.Sprintf("%s: an older event could overwrite a newer one: %s also written by event %s, and nothing orders the two", b.Event.Is(), what, wording.Quote(a.Event.Spec.Name.Value)),
			"add if_newer to each of these steps, with the same column")
	case !guarded:
		unguarded := b
		if b.guard != nil {
			unguarded = a
		}
		report.Add(unguarded.Spec.Verb.Pos, "E505", from+", which nothing orders relative to each other", "add if_newer to each of these steps")
	default:
		report.Add(b.guardPos(), "E505", fmt.Sprintf("%s, which compare different columns: %s and %s", from, wording.Quote(a.guard.Name), wording.Quote(b.guard.Name)),
			"compare the same column in each of these steps")
	}
}

// wholeValues is what to do about patches that come late.
const wholeValues = "let events contain whole values instead of patches"
