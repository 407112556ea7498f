package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// orderedTypes are the column types that if_newer may compare. Text is not among them: its
// order depends on a collation, and "10" comes before "9".
var orderedTypes = map[model.ColKind]bool{
	model.ColSmallint: true, model.ColInteger: true, model.ColBigint: true,
	model.ColNumeric: true, model.ColReal: true, model.ColDouble: true,
	model.ColTimestamptz: true, model.ColTimestamp: true, model.ColDate: true,
}

// resolveGuard reads if_newer and reports guards that guard nothing (E506).
func resolveGuard(report *syntax.Diagnostics, st *draft.Step) {
	at := st.Spec.If.Newer
	if at == nil {
		return
	}
	c := lookupColumn(report, st.Table, *at)
	if c == nil || c.Broken {
		st.Whole = false
		return
	}
	v, filled := st.Set[c]
	setsNothing := !st.Model.Makes && !st.Model.Changes
	if setsNothing {
		if v, filled = sameNamed(st, c.Spec.Name.Value); filled {
			v = checkType(report, c, v, at.Pos, "be compared with")
		}
	}
	name := wording.Quote(c.Spec.Name.Value)
	fail := func(message, hint string) {
		report.Add(at.Pos, "E506", message, hint)
		st.Whole = false
	}
	_, finds := st.Where[c]
	fromEvent := v.Model.Kind == model.FieldValue || v.Model.Kind == model.ElemValue || v.Model.Kind == model.ResultValue
	switch {
	case filled && !v.Known:
		st.Whole = false
	case setsNothing && !filled:
		if judgeable(st) {
			fail(fmt.Sprintf("if_newer compares column %s, but the event has no field of that name", name), "declare the version or time that the producer sets under this name")
		}
		st.Whole = false
	case !filled && !judgeable(st):
		st.Whole = false
	case !filled || !fromEvent:
		hint := "fill it with the version or time that the producer sets"
		if _, there := sameNamed(st, c.Spec.Name.Value); there && !filled {
			hint = fmt.Sprintf("an update writes only the columns in set: add %s: %s there", c.Spec.Name.Value, c.Spec.Name.Value)
		}
		fail(fmt.Sprintf("if_newer compares column %s, but this step does not fill it from the event", name), hint)
	case finds || model.ContainsColumns(st.Model.By, []*model.Column{c.Model}):
		fail(fmt.Sprintf("if_newer compares column %s, by which the step finds the row: it is never newer", name), "compare a version or time column")
	case v.How == model.Keeps:
		fail(fmt.Sprintf("if_newer compares column %s, which keep leaves unchanged: every event would be newer than the first", name), "remove it from keep")
	case !orderedTypes[c.Model.Type.Kind]:
		fail(fmt.Sprintf("if_newer compares column %s (%s), which has no reliable order", name, c.Spec.Type.Word), "use a bigint version or a timestamptz")
	case v.Type.Optional:
		fail(fmt.Sprintf("if_newer compares column %s with field %s, which may be null: a null is neither newer nor older", name, wording.Quote(v.Text)), `remove "optional"`)
	case v.Model.Field != nil && v.Model.Field.IsRecordTime():
		fail(fmt.Sprintf("if_newer compares column %s with the record's timestamp, which may be the time at which the broker received the record", name),
			"use the version or time that the producer sends, in a header or in the payload")
	case v.Model.Field != nil && v.Model.Field.Source.Kind == model.FromRecord:
		fail(fmt.Sprintf("if_newer compares column %s with the record's %s, which orders only one partition", name, v.Model.Field.Source.Record), "use the version or time that the producer sets")
	default:
		st.Model.If.Newer, st.Model.If.Version = c.Model, v.Model
	}
}
