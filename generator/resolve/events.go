package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// event is an entry of events.
type event struct {
	spec  *schema.Event
	model *model.Event
	topic *topic
	scope scope
	steps []*step
	// unsure says that a part of the event was refused, so that an unused field proves
	// nothing.
	unsure bool
}

// is names the event in a message: `event "OrderPlaced"`.
func (e *event) is() string { return "event " + quote(e.spec.Name.Value) }

func (r *topicReader) resolveEvent(t *topic, spec *schema.Event) *event {
	e := &event{spec: spec, topic: t, unsure: spec.Broken, model: &model.Event{
		Name: spec.Name.Value, GoName: goNameOr(spec.Name.Value, spec.Doc), Doc: docOf(spec.Doc), Topic: t.model,
		Tombstone: spec.Tombstone != nil && spec.Tombstone.Value,
		Handle:    spec.Handle != nil && spec.Handle.Value,
		OnFailure: resolveEventFailure(r.report, t, spec), OwnFailure: spec.OnFailure != nil || spec.IdempotencyKey != nil,
	}}
	e.scope.open = spec.Broken || t.spec.Broken
	own := r.ownFields(e)
	for _, f := range t.fields {
		addTopicField(r.report, e, f)
	}
	if t.key != nil {
		for _, p := range t.key.parts {
			if e.scope.find(p.spec.Name.Value) == nil {
				e.scope.names = append(e.scope.names, &name{text: p.spec.Name.Value, origin: keyPart, pos: p.spec.Name.Pos, field: p.field})
			}
		}
		e.scope.open = e.scope.open || t.spec.RecordKey.Broken
	}
	checkEventPaths(r.report, e, own)
	r.resolveKey(e)
	for _, s := range spec.Write {
		st := resolveStep(r.report, r.tables, e, s)
		e.steps = append(e.steps, st)
		e.model.Steps = append(e.model.Steps, st.model)
		e.unsure = e.unsure || !st.whole
	}
	e.collectFields()
	e.resolveCompared()
	return e
}

// ownFields puts the event's own fields into its scope.
func (r *topicReader) ownFields(e *event) []fieldInfo {
	var infos []fieldInfo
	from := ownField
	if e.spec.FieldsType != nil {
		from = sharedField
		infos = r.fieldsOfType(e)
	}
	for _, f := range e.spec.Fields {
		infos = append(infos, resolveField(r.report, r.types, f, e.is()))
	}
	for i, in := range infos {
		if in.field != nil && e.model.Tombstone && !checkTombstoneField(r.report, e, in, from) {
			in.field, infos[i].field = nil, nil
		}
		matchPart(r.report, e.topic.key, in)
		e.unsure = e.unsure || in.field == nil
		e.scope.names = append(e.scope.names, &name{text: in.spec.Name.Value, origin: from, pos: in.spec.Name.Pos, field: in.field})
	}
	return infos
}

// fieldsOfType copies the members of the type that fields names.
func (r *topicReader) fieldsOfType(e *event) []fieldInfo {
	text := e.spec.FieldsType
	t := r.types.byName[text.Value]
	switch {
	case t == nil:
		r.report.Add(text.Pos, "E208", "unknown type "+quote(text.Value), schema.DidYouMean(text.Value, r.types.names()))
	case t.spec.Kind == schema.EnumType:
		r.report.Add(text.Pos, "E208", fmt.Sprintf("type %s is an enum, but fields needs a type with fields", quote(text.Value)), "declare the fields here: fields: {name: "+text.Value+"}")
	case !t.broken:
		var infos []fieldInfo
		for i, m := range t.model.Fields {
			own := *m
			infos = append(infos, fieldInfo{spec: t.spec.Fields[i], field: &own})
		}
		return infos
	}
	e.scope.open, e.unsure = true, true
	return nil
}

// checkTombstoneField refuses what a record without a value cannot give.
func checkTombstoneField(report *schema.Diagnostics, e *event, in fieldInfo, from origin) bool {
	src := in.field.Source
	if src.Kind != model.FromPayload && src.Record != "value" {
		return true
	}
	pos, hint := in.spec.Name.Pos, "take it from a header or from record_key"
	if from == sharedField {
		pos = e.spec.FieldsType.Pos
	}
	if k := e.topic.key; k != nil {
		for _, p := range k.parts {
			if p.spec.Name.Value == in.spec.Name.Value {
				hint = "drop the field: the part of record_key has this name already"
			}
		}
	}
	report.Add(pos, "E306", fmt.Sprintf("a tombstone has no payload, so field %s cannot be read from it", quote(in.field.Name)), hint)
	return false
}

// addTopicField puts a field of the topic into the scope of an event.
func addTopicField(report *schema.Diagnostics, e *event, f fieldInfo) {
	if n := e.scope.find(f.spec.Name.Value); n != nil {
		report.Add(n.pos, "E107", fmt.Sprintf("field %s of %s is a field of topic %s already", quote(n.text), e.is(), quote(e.topic.spec.Name.Value)),
			fmt.Sprintf("the first one is on line %d", f.spec.Name.Pos.Line))
		return
	}
	n := &name{text: f.spec.Name.Value, origin: topicField, pos: f.spec.Name.Pos, field: f.field}
	if f.field != nil && e.model.Tombstone {
		n.noPayload = f.field.Source.Kind == model.FromPayload || f.field.Source.Record == "value"
	}
	e.scope.names = append(e.scope.names, n)
}

// checkEventPaths checks the paths of all fields that the event reads.
func checkEventPaths(report *schema.Diagnostics, e *event, own []fieldInfo) {
	if e.model.Tombstone {
		return
	}
	checkPaths(report, append(own, e.topic.fields...), e.is(), e.spec.Name.Pos)
}

// collectFields fills the struct of the event: its own fields, the topic's, and the
// record-key parts that it uses (all of them if Go code gets the event, or if they are what
// keeps its copies in one partition: a record without a record key may be in any).
func (e *event) collectFields() {
	for _, n := range e.scope.names {
		if n.origin == keyPart && (n.used || e.model.Handle || e.keptByRecordKey()) || n.origin != keyPart && !n.noPayload {
			if n.field != nil {
				e.model.Fields = append(e.model.Fields, n.field)
			}
		}
	}
}

// inTopic names the event together with its topic.
func (e *event) inTopic() string { return e.is() + " of topic " + quote(e.topic.spec.Name.Value) }
