package resolve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/typeword"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// addEmit reads an emit step: each field of the outbox event gets a value of the event.
func (r *topicReader) addEmit(e *draft.Event, spec *schema.Step, under *draft.Step, branch model.Branch) {
	st := &draft.Step{Spec: spec, Event: e, Under: under, Whole: !spec.Broken, Model: &model.Step{Event: e.Model}}
	em := &draft.Emit{Step: st, Of: r.outbox.Event(spec.Table.Value), Model: &model.Emit{Under: branch}}
	e.Emits = append(e.Emits, em)
	switch {
	case em.Of == nil && r.outbox == nil && spec.Table.Value != "":
		r.report.Add(spec.Table.Pos, "E209", "unknown outbox event "+wording.Quote(spec.Table.Value)+": the spec has no outbox", "declare it: outbox: {events: {"+spec.Table.Value+": {topic: ..., record_key: ..., fields: ...}}}")
		st.Whole = false
	case em.Of == nil && !(r.outbox != nil && r.outbox.Spec.Broken) && spec.Table.Value != "":
		r.report.Add(spec.Table.Pos, "E209", "unknown outbox event "+wording.Quote(spec.Table.Value), cmp.Or(schema.DidYouMean(spec.Table.Value, r.outbox.Names()), wording.Choices(spec.Table.Value, "outbox events", r.outbox.Names())))
		st.Whole = false
	case em.Of == nil:
		st.Whole = false
	default:
		em.Model.Of = em.Of.Model
		resolveEach(r.report, st)
		em.Model.Each = st.Model.Each
		filler{report: r.report, emit: em, named: map[string]bool{}}.fill()
	}
	e.Model.Emits = append(e.Model.Emits, em.Model)
	e.Unsure = e.Unsure || !st.Whole
}

// filler gives the fields of an outbox event their values.
type filler struct {
	report *schema.Diagnostics
	emit   *draft.Emit
	named  map[string]bool // by set and leave
}

func (f filler) fill() {
	st := f.emit.Step
	values := map[*model.Field]model.Value{}
	if st.Spec.Set != nil {
		st.Whole = st.Whole && !st.Spec.Set.Broken
		for _, a := range st.Spec.Set.Items {
			field := f.name(a.Column)
			if field == nil {
				st.Whole = false
				continue
			}
			if v := f.value(a.Value, field); v.Known && f.fits(field, v, a.Value.Pos) {
				values[field] = v.Model
			} else {
				st.Whole = false
			}
		}
	}
	if st.Spec.Leave != nil {
		for _, item := range st.Spec.Leave.Items {
			if field := f.name(item); field != nil && !field.Type.Optional {
				f.report.Add(item.Pos, "E303", fmt.Sprintf("field %s of %s may not be null, so it cannot be left", wording.Quote(field.Name), f.emit.Of.Is()), "give it a value, or declare it optional")
				st.Whole = false
			}
		}
	}
	for _, field := range f.emit.Of.Model.Fields {
		if f.named[field.Name] {
			continue
		}
		v, found := sameNamed(st, field.Name)
		switch {
		case found && v.Known && f.fits(field, v, st.Spec.Table.Pos):
			values[field] = v.Model
		case found:
			st.Whole = false
		case judgeable(st) && !f.emit.Of.Broken:
			f.empty(field)
		default:
			st.Whole = false
		}
	}
	for _, field := range f.emit.Of.Model.Fields {
		if v, ok := values[field]; ok {
			f.emit.Model.Set = append(f.emit.Model.Set, model.Filled{Field: field, Value: v})
		}
	}
}

// empty reports a field that gets no value.
func (f filler) empty(field *model.Field) {
	hint := "add it to set:, or declare a field of that name"
	switch {
	case field.Type.Optional:
		hint = "add it to set:, or list it under leave: to send null"
	case f.emit.Step.PerElement():
		hint = "add it to set: (with each, only the element's fields fill by name)"
	}
	f.report.Add(f.emit.Step.Spec.Table.Pos, "E612", fmt.Sprintf("%s: field %s gets no value", f.emit.Of.Is(), wording.Quote(field.Name)), hint)
	f.emit.Step.Whole = false
}

// name looks up a field that set or leave names, and reports one that is named twice (E602).
func (f filler) name(at schema.Text) *model.Field {
	fields := f.emit.Of.Model.Fields
	i := slices.IndexFunc(fields, func(o *model.Field) bool { return o.Name == at.Value })
	if i < 0 {
		if !f.emit.Of.Broken {
			var names []string
			for _, o := range fields {
				names = append(names, o.Name)
			}
			f.report.Add(at.Pos, "E207", fmt.Sprintf("%s has no field %s", f.emit.Of.Is(), wording.Quote(at.Value)), cmp.Or(schema.DidYouMean(at.Value, names), wording.Choices(at.Value, "fields", names)))
		}
		return nil
	}
	if f.named[at.Value] {
		f.report.Add(at.Pos, "E602", fmt.Sprintf("field %s is named twice in this step", wording.Quote(at.Value)), "keep one of set and leave")
	}
	f.named[at.Value] = true
	return fields[i]
}

// value looks up what set writes for a field.
func (f filler) value(v schema.Value, field *model.Field) draft.Value {
	switch v.Kind {
	case schema.ConstantValue:
		norm, why := typeword.FieldConstant(field.Type, v.Const.Value)
		if why != typeword.Fits {
			f.report.Add(v.Const.Pos, "E304", fmt.Sprintf("constant %s does not fit field %s of %s", wording.Quote(v.Const.Value), wording.Quote(field.Name), f.emit.Of.Is()), string(why))
			return draft.Value{}
		}
		return draft.Value{Model: model.Value{Kind: model.ConstValue, Const: &model.Constant{Text: norm}}, Known: true}
	case schema.NowValue:
		f.report.Add(v.Pos, "E304", "now is the time of the transaction, and the value of an outbox event is made before it", "send a time of the event, or record: timestamp of its record")
		return draft.Value{}
	case schema.ElementValue:
		st := f.emit.Step
		if !needsEach(f.report, st, v, "each") || st.Elem == nil {
			return draft.Value{}
		}
		return draft.Value{Model: model.Value{Kind: model.ElemValue}, Type: *st.Elem, Text: "each", Known: true}
	}
	return resolveValue(f.report, f.emit.Step, v, nil)
}

// fits reports a value whose type is not that of the field (E302), or that may be null where the
// field may not (E303).
func (f filler) fits(field *model.Field, v draft.Value, pos schema.Pos) bool {
	if v.Model.Kind == model.ConstValue {
		return true
	}
	switch {
	case v.Model.Patch():
		f.report.Add(pos, "E309", fmt.Sprintf("patch field %s cannot fill %s of %s: absent has no value to send", wording.Quote(v.Text), wording.Quote(field.Name), f.emit.Of.Is()), `drop "patch", or send another field`)
	case !alike(v.Type, field.Type):
		f.report.Add(pos, "E302", fmt.Sprintf("field %s (%s) cannot fill field %s (%s) of %s", wording.Quote(v.Text), typeword.Text(v.Type), wording.Quote(field.Name), typeword.Text(field.Type), f.emit.Of.Is()),
			"declare both with one type; an int32 also fills an int64, and an enum a string")
	case v.Type.Optional && !field.Type.Optional:
		f.report.Add(pos, "E303", fmt.Sprintf("field %s may be null, but field %s of %s may not", wording.Quote(v.Text), wording.Quote(field.Name), f.emit.Of.Is()), `make the one required, or the other "optional"`)
	default:
		return true
	}
	return false
}

// alike reports whether a value of one type can be sent as another. How both are written in
// payloads does not matter.
func alike(from, to model.FieldType) bool {
	switch {
	case from.Kind == model.Int32 && to.Kind == model.Int64, from.Kind == model.Enum && to.Kind == model.String:
		return true
	case from.Kind != to.Kind:
		return false
	case from.Elem != nil:
		return from.Elem.Kind == to.Elem.Kind && from.Elem.Optional == to.Elem.Optional && alike(*from.Elem, *to.Elem)
	case from.Named != nil:
		return original(from.Named) == original(to.Named)
	}
	return true
}

// original is a type as the first topic reads it, which is the Go type of all its spellings.
func original(t *model.Type) *model.Type {
	if t.First != nil {
		return t.First
	}
	return t
}
