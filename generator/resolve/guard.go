package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// orderedTypes are the column types that if_newer may compare. Text is not among them: its
// order depends on a collation, and "10" comes before "9".
var orderedTypes = map[model.ColKind]bool{
	model.ColSmallint: true, model.ColInteger: true, model.ColBigint: true, model.ColNumeric: true, model.ColDouble: true,
	model.ColTimestamptz: true, model.ColTimestamp: true, model.ColDate: true,
}

// resolveGuard reads if_newer and reports guards that guard nothing (E506).
func resolveGuard(report *schema.Diagnostics, st *step) {
	at := st.spec.IfNewer
	if at == nil {
		return
	}
	c := lookupColumn(report, st.table, *at)
	if c == nil || c.broken {
		st.whole = false
		return
	}
	v, filled := st.set[c]
	setsNothing := !st.model.Makes && !st.model.Changes
	if setsNothing {
		if v, filled = st.sameNamed(c.spec.Name.Value); filled {
			v = checkType(report, c, v, at.Pos, "be compared with")
		}
	}
	name := quote(c.spec.Name.Value)
	fail := func(message, hint string) {
		report.Add(at.Pos, "E506", message, hint)
		st.whole = false
	}
	_, finds := st.where[c]
	fromEvent := v.model.Kind == model.FieldValue || v.model.Kind == model.ElemValue
	switch {
	case filled && !v.known:
		st.whole = false
	case setsNothing && !filled:
		if st.judgeable() {
			fail(fmt.Sprintf("if_newer compares column %s, but the event has no field of that name", name), "declare the version or time that the producer sets under this name")
		}
		st.whole = false
	case !filled && !st.judgeable():
		st.whole = false
	case !filled || !fromEvent:
		hint := "fill it with the version or time that the producer sets"
		if _, there := st.sameNamed(c.spec.Name.Value); there && !filled {
			hint = fmt.Sprintf("an update writes only what set names: add %s: %s there", c.spec.Name.Value, c.spec.Name.Value)
		}
		fail(fmt.Sprintf("if_newer compares column %s, but this step does not fill it from the event", name), hint)
	case finds || containsColumns(st.model.By, []*model.Column{c.model}):
		fail(fmt.Sprintf("if_newer compares column %s, which finds the row: it is never newer", name), "compare a version or time column")
	case !orderedTypes[c.model.Type.Kind]:
		fail(fmt.Sprintf("if_newer compares column %s (%s), which has no order to rely on", name, c.spec.Type.Word), "use a bigint version or a timestamptz")
	case v.typ.Optional:
		fail(fmt.Sprintf("if_newer compares column %s with field %s, which may be null: a null is neither newer nor older", name, quote(v.text)), `drop "optional"`)
	case v.model.Field != nil && v.model.Field.Source.Kind == model.FromRecord && v.typ.Kind != model.Timestamp:
		fail(fmt.Sprintf("if_newer compares column %s with the record's %s, which orders one partition only", name, v.model.Field.Source.Record), "use the version or time that the producer sets")
	default:
		st.model.IfNewer, st.model.Newer = c.model, v.model
	}
}
