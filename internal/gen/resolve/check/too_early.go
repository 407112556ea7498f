package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkTooEarly reports if_missing: skip where an event may come before the one that makes its
// row: its effect would be lost, and nothing would tell (E503). Who makes rows that no step of the
// spec makes, and when, the spec does not know.
func checkTooEarly(report *syntax.Diagnostics, d *draft.Service) {
	for _, st := range d.Steps() {
		if !st.Whole || !passesWithoutRow(st) || st.Event.Topic.OrderUnknown || missesOnPurpose(st) {
			continue
		}
		ahead := func(m *draft.Step) bool {
			return m.Whole && m.Table == st.Table && m.Model.Makes && !m.Event.Topic.OrderUnknown && !comesAfter(st, m)
		}
		if i := slices.IndexFunc(d.Steps(), ahead); i >= 0 {
			at := st.Spec.Verb.Pos
			if st.Spec.If.Missing != nil {
				at = st.Spec.If.Missing.Pos
			}
			report.Add(at, "E503", fmt.Sprintf("%s: an event that arrives before its row would be lost: %s", st.Event.Is(), whyTooEarly(st, d.Steps()[i])),
				mindMissing(st, d.Steps()[i]))
		}
	}
}

// passesWithoutRow reports whether an event that finds no row to change takes effect all the same.
func passesWithoutRow(st *draft.Step) bool {
	return st.Model.OnlyChanges() && (st.Model.If.Missing == "skip" || st.Model.Many)
}

// missesOnPurpose reports whether the event makes the row by itself.
func missesOnPurpose(st *draft.Step) bool {
	return slices.ContainsFunc(st.Event.Steps, func(o *draft.Step) bool { return makesRowOf(o, st) })
}

// makesRowOf reports whether a step makes the row that another one of its event then finds.
func makesRowOf(o, st *draft.Step) bool {
	if o.Table != st.Table || !o.Whole || !o.Model.Makes || slices.Index(o.Event.Steps, o) > slices.Index(st.Event.Steps, st) {
		return false
	}
	return !slices.ContainsFunc(st.Model.RowKey(), func(a model.Assign) bool {
		v, set := o.Set[o.Table.Of(a.Column)]
		same := sameValue(v.Model, a.Value)
		if a.Value.Kind == model.ConstValue {
			same = v.Model.Kind == model.ConstValue && v.Model.Const.Text == a.Value.Const.Text
		}
		return !set || !same
	})
}

// comesAfter reports whether an event comes after those that make its row: a row that both find
// is of one record key of an ordered topic.
func comesAfter(st, maker *draft.Step) bool {
	if st.Event.Topic != maker.Event.Topic || !ordered(st) {
		return false
	}
	told := map[*model.KeyPart]bool{} // by a column that both fill with that part of the record key
	var made []model.Assign
	for _, a := range st.Model.RowKey() {
		v := maker.Set[st.Table.Of(a.Column)]
		made = append(made, model.Assign{Column: a.Column, Value: v.Model})
		if p := a.Value.KeyPart(); p == v.Model.KeyPart() {
			told[p] = true
		}
	}
	t := st.Event.Topic
	return t.Model.OneTopic(fieldsOf(made)) && !slices.ContainsFunc(t.Key.Model.Parts, func(p *model.KeyPart) bool { return !told[p] })
}

// whyTooEarly says why an event may come before the one that makes its row.
func whyTooEarly(st, maker *draft.Step) string {
	event, topic := wording.Quote(maker.Event.Spec.Name.Value), wording.Quote(maker.Event.Topic.Spec.Name.Value)
	switch {
	case maker.Event.Topic != st.Event.Topic:
		return fmt.Sprintf("topic %s creates rows of %s, and nothing orders the two topics relative to each other", topic, wording.Quote(st.Spec.Table.Value))
	case !ordered(st):
		return whyUnordered(st)
	}
	return fmt.Sprintf("event %s creates rows of %s, which the record key %s does not identify", event, wording.Quote(st.Spec.Table.Value), wording.Bracketed(partNames(st.Event.Topic.Key)))
}

// mindMissing says what to write in place of if_missing: skip.
func mindMissing(st, maker *draft.Step) string {
	if st.Model.Many {
		return "store it in a separate table, under the values that find these rows: upsert: <table>" + orIfSoOrdered(st, maker)
	}
	hint := "remove if_missing: skip (such an event then becomes a dead letter)"
	if st.Model.Sums {
		hint = "write if_missing: insert, or remove if_missing (such an event then becomes a dead letter)"
	}
	return hint + orIfSoOrdered(st, maker)
}

// orIfSoOrdered is the end of a hint: what the topic could state, if that helps.
func orIfSoOrdered(st, maker *draft.Step) string {
	if maker.Event.Topic == st.Event.Topic && !ordered(st) {
		return orIfOrdered(st.Event.Topic)
	}
	return ""
}

func sameValue(a, b model.Value) bool {
	part := a.KeyPart()
	return a.Kind == b.Kind && a.Field == b.Field || part != nil && part == b.KeyPart()
}
