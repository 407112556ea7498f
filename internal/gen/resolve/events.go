package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

func (r *topicReader) resolveEvent(t *draft.Topic, spec *syntax.Event) *draft.Event {
	e := &draft.Event{Spec: spec, Topic: t, Unsure: spec.Broken, Model: &model.Event{
		Name: spec.Name.Value, GoName: spec.Name.Value, Doc: docOf(spec.Doc), Topic: t.Model,
		Tombstone: spec.Tombstone != nil && spec.Tombstone.Value,
		Code:      model.Code{Handle: spec.Handle != nil && spec.Handle.Value},
		OnFailure: t.Model.OnFailure, Marks: model.Marks{OwnFailure: spec.IdempotencyKey != nil},
	}}
	e.Scope.Open = spec.Broken || t.Spec.Broken
	own := r.ownFields(e)
	for _, f := range t.Fields {
		addTopicField(r.report, e, f)
	}
	if t.Key != nil {
		for _, p := range t.Key.Parts {
			if e.Scope.Find(p.Spec.Name.Value) == nil {
				e.Scope.Names = append(e.Scope.Names, &draft.Name{Text: p.Spec.Name.Value, Origin: draft.RecordKeyPart, Pos: p.Spec.Name.Pos, Field: p.Field})
			}
		}
		e.Scope.Open = e.Scope.Open || t.Spec.RecordKey.Broken
	}
	checkEventPaths(r.report, e, own)
	r.resolveKey(e)
	r.resolveEffect(e)
	for _, s := range spec.Write {
		st := resolveStep(r.report, r.tables, e, s)
		e.Steps = append(e.Steps, st)
		e.Model.Steps = append(e.Model.Steps, st.Model)
		e.Unsure = e.Unsure || !st.Whole
	}
	collectFields(e)
	resolveCompared(e)
	return e
}

// ownFields puts the event's own fields into its scope.
func (r *topicReader) ownFields(e *draft.Event) []draft.Field {
	var infos []draft.Field
	from := draft.OwnField
	at := topicPlace(e.Topic.Spec).from(e.Spec.Root)
	if e.Model.Tombstone && e.Spec.Root != nil {
		r.report.Add(e.Spec.Root.Key, "E306", "a tombstone has no payload, so it has no root", "remove root")
	}
	if e.Spec.FieldsType != nil {
		from = draft.SharedField
		infos = r.fieldsOfType(e, at)
	}
	for _, f := range e.Spec.Fields {
		infos = append(infos, resolveField(r.report, e.Topic.Types, f, e.Is(), at))
	}
	for i, in := range infos {
		if in.Field != nil && e.Model.Tombstone && !checkTombstoneField(r.report, e, in, from) {
			in.Field, infos[i].Field = nil, nil
		}
		matchPart(r.report, e.Topic.Key, in)
		e.Unsure = e.Unsure || in.Field == nil
		e.Scope.Names = append(e.Scope.Names, &draft.Name{Text: in.Spec.Name.Value, Origin: from, Pos: in.Spec.Name.Pos, Field: in.Field})
	}
	return infos
}

// fieldsOfType copies the members of the type that fields names.
func (r *topicReader) fieldsOfType(e *draft.Event, at place) []draft.Field {
	text := e.Spec.FieldsType
	t := e.Topic.Types.Find(text.Value)
	r.types.Used[text.Value] = true
	switch {
	case t == nil:
		r.report.Add(text.Pos, "E208", "unknown type "+wording.Quote(text.Value), syntax.DidYouMean(text.Value, r.types.Names))
	case t.Spec.Kind == syntax.EnumType:
		r.report.Add(text.Pos, "E208", fmt.Sprintf("type %s is an enum, but fields needs a type with fields", wording.Quote(text.Value)), "declare the fields here: fields: {name: "+text.Value+"}")
	case !t.Broken:
		var infos []draft.Field
		for i, m := range t.Model.Fields {
			own := *m
			own.Source.Path = slices.Concat(at.root, m.Source.Path)
			infos = append(infos, draft.Field{Spec: t.Spec.Fields[i], Field: &own})
		}
		return infos
	}
	e.Scope.Open, e.Unsure = true, true
	return nil
}

// checkTombstoneField refuses what a record without a value cannot give.
func checkTombstoneField(report *syntax.Diagnostics, e *draft.Event, in draft.Field, from draft.Origin) bool {
	src := in.Field.Source
	if src.Kind != model.FromPayload && src.Record != "value" {
		return true
	}
	pos, hint := in.Spec.Name.Pos, "take it from a header or from record_key"
	if from == draft.SharedField {
		pos = e.Spec.FieldsType.Pos
	}
	if k := e.Topic.Key; k != nil {
		for _, p := range k.Parts {
			if p.Spec.Name.Value == in.Spec.Name.Value {
				hint = "remove the field: a part of record_key already has this name"
			}
		}
	}
	report.Add(pos, "E306", fmt.Sprintf("a tombstone has no payload, so field %s cannot be read from it", wording.Quote(in.Field.Name)), hint)
	return false
}

// addTopicField puts a field of the topic into the scope of an event.
func addTopicField(report *syntax.Diagnostics, e *draft.Event, f draft.Field) {
	if n := e.Scope.Find(f.Spec.Name.Value); n != nil && n.Origin == draft.SharedField { // the type is of others, too
		at := e.Spec.FieldsType
		report.Add(at.Pos, "E107", fmt.Sprintf("type %s has field %s, which is already a field of topic %s", wording.Quote(at.Value), wording.Quote(n.Text), wording.Quote(e.Topic.Spec.Name.Value)),
			"remove it from the topic ("+f.Spec.Name.Pos.OnLine()+"), or list the fields of the event instead of the type")
		return
	} else if n != nil {
		report.Add(n.Pos, "E107", fmt.Sprintf("field %s of %s is already a field of topic %s", wording.Quote(n.Text), e.Is(), wording.Quote(e.Topic.Spec.Name.Value)),
			"the first one is on "+f.Spec.Name.Pos.OnLine())
		return
	}
	n := &draft.Name{Text: f.Spec.Name.Value, Origin: draft.TopicField, Pos: f.Spec.Name.Pos, Field: f.Field}
	if f.Field != nil && e.Model.Tombstone {
		n.NoPayload = f.Field.Source.Kind == model.FromPayload || f.Field.Source.Record == "value"
	}
	e.Scope.Names = append(e.Scope.Names, n)
}

// checkEventPaths checks the paths of all fields that the event reads.
func checkEventPaths(report *syntax.Diagnostics, e *draft.Event, own []draft.Field) {
	if e.Model.Tombstone {
		return
	}
	checkPaths(report, append(own, e.Topic.Fields...), e.Is(), e.Spec.Name.Pos)
}

// collectFields fills the struct of the event: its own fields, the topic's, and the
// record-key parts that it uses (all of them if Go code gets the event, or if they are what
// keeps its copies in one partition: a record without a record key may be in any).
func collectFields(e *draft.Event) {
	for _, n := range e.Scope.Names {
		if n.Origin == draft.RecordKeyPart && (n.Used || e.Model.HasCode() || e.KeptByRecordKey()) || n.Origin != draft.RecordKeyPart && !n.NoPayload {
			if n.Field != nil {
				e.Model.Fields = append(e.Model.Fields, n.Field)
			}
		}
	}
}
