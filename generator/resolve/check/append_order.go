package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkAppendOrder reports rows that are numbered as they come although nothing orders the events
// of a stream (E508).
func checkAppendOrder(report *schema.Diagnostics, e *draft.Event) {
	t := e.Topic
	for _, st := range e.Steps {
		if st.Model.Stream == nil || st.Spec.Own.Expect != nil || t.OrderUnknown {
			continue
		}
		why := ""
		switch {
		case !t.Model.Ordered || t.Key == nil:
			why = fmt.Sprintf("and topic %s promises no order", wording.Quote(t.Spec.Name.Value))
		case st.Whole && !slices.ContainsFunc(t.Key.Model.Parts, func(p *model.KeyPart) bool { return !namesStream(st, p) }):
			continue
		case st.Whole:
			why = fmt.Sprintf("and %s, which orders topic %s, is not what names the stream", wording.Bracketed(partNames(t.Key)), wording.Quote(t.Spec.Name.Value))
		default:
			continue
		}
		report.Add(st.Spec.Verb.Pos, "E508", "append without expect numbers events in arrival order, "+why,
			"add expect: <field with the expected position>, or state assume: {ordered_by: record_key}")
	}
}

// namesStream reports whether a record-key part is a value of the stream's columns.
func namesStream(st *draft.Step, part *model.KeyPart) bool {
	return slices.ContainsFunc(st.Model.Set, func(a model.Assign) bool {
		return slices.Contains(st.Model.Stream.Columns, a.Column) && draft.PartOf(a.Value) == part
	})
}
