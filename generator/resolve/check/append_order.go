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
func checkAppendOrder(report *schema.Diagnostics, d *draft.Service) {
	appenders := map[*draft.Table][]*draft.Topic{}
	for _, st := range d.Steps() {
		if st.Model.Stream != nil && !slices.Contains(appenders[st.Table], st.Event.Topic) {
			appenders[st.Table] = append(appenders[st.Table], st.Event.Topic)
		}
	}
	for _, st := range d.Steps() {
		t := st.Event.Topic
		if st.Model.Stream == nil || !st.Spec.Lacks("expect") || t.OrderUnknown {
			continue
		}
		why, hint := "", "add expect: <field with the expected position>, or state assume: {ordered_by: record_key}"
		switch others := appenders[st.Table]; {
		case len(others) > 1:
			other := others[0]
			if other == t {
				other = others[1]
			}
			hint = "add expect: <field with the expected position>, or append from one topic"
			why = fmt.Sprintf("and topic %s appends to the same table: nothing orders the two topics", wording.Quote(other.Spec.Name.Value))
		case !t.Model.Ordered || t.Key == nil:
			why = fmt.Sprintf("and topic %s promises no order", wording.Quote(t.Spec.Name.Value))
		case st.Whole && !t.OneTopic(streamFields(st)):
			why, hint = "and "+apart(t), "add expect: <field with the expected position>, or "+disjoint(t)
		case st.Whole && !slices.ContainsFunc(t.Key.Model.Parts, func(p *model.KeyPart) bool { return !namesStream(st, p) }):
			continue
		case st.Whole:
			hint = "add expect: <field with the expected position>"
			why = fmt.Sprintf("and %s, which orders topic %s, is not what names the stream", wording.Bracketed(partNames(t.Key)), wording.Quote(t.Spec.Name.Value))
		default:
			continue
		}
		report.Add(st.Spec.Verb.Pos, "E508", "append without expect numbers events in arrival order, "+why, hint)
	}
}

// streamFields are the fields that name the stream.
func streamFields(st *draft.Step) []*model.Field {
	return fieldsOf(slices.DeleteFunc(slices.Clone(st.Model.Set), func(a model.Assign) bool { return !slices.Contains(st.Model.Stream.Columns, a.Column) }))
}

// namesStream reports whether a record-key part is a value of the stream's columns.
func namesStream(st *draft.Step, part *model.KeyPart) bool {
	return slices.ContainsFunc(st.Model.Set, func(a model.Assign) bool {
		return slices.Contains(st.Model.Stream.Columns, a.Column) && tells(a, part)
	})
}
