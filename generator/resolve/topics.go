package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// topic is an entry of topics.
type topic struct {
	spec   *schema.Topic
	model  *model.Topic
	key    *recordKey
	fields []fieldInfo
	events []*event
	// orderUnknown says that assume or record_key was refused, so nothing is concluded
	// about the order of the topic.
	orderUnknown bool
}

func (r *resolver) resolveTopic(spec *schema.Topic) *topic {
	t := &topic{spec: spec, key: r.resolveRecordKey(spec.RecordKey)}
	t.model = &model.Topic{
		Name: spec.Name.Value, GoName: goNameOf(spec.Name.Value, spec.Doc), FileName: fileName(spec.Name.Value, spec.Doc), Doc: docOf(spec.Doc),
		UnknownType: "dead_letter", Tombstone: "dead_letter", StartFrom: "earliest",
		OnFailure: r.resolveFailure(r.resolveFailure(defaultFailure, r.spec.OnFailure), spec.OnFailure),
	}
	if t.key != nil {
		t.model.RecordKey = t.key.model
	}
	if spec.StartFrom != nil {
		t.model.StartFrom = spec.StartFrom.Value
	}
	r.resolveAssume(t)
	owner := "topic " + quote(spec.Name.Value)
	for _, f := range spec.Fields {
		in := r.resolveField(f, owner)
		r.matchPart(t.key, in)
		t.fields = append(t.fields, in)
	}
	for _, e := range spec.Events {
		ev := r.resolveEvent(t, e)
		t.events = append(t.events, ev)
		t.model.Events = append(t.model.Events, ev.model)
	}
	r.resolveDiscriminator(t)
	r.resolveUnhandled(t)
	return t
}

func (r *resolver) resolveAssume(t *topic) {
	a := t.spec.Assume
	t.orderUnknown = t.spec.Broken || a != nil && a.Broken || t.key != nil && !t.key.known
	if a == nil {
		return
	}
	t.model.UniqueRecords = a.UniqueRecords != nil && a.UniqueRecords.Value
	t.model.CopiesKeepKey = a.CopiesKeepKey != nil && a.CopiesKeepKey.Value
	if a.Retention != nil {
		t.model.Retention = a.Retention.Value
	}
	if a.OrderedBy == nil {
		r.checkPromiseHasOrder(t)
		return
	}
	t.model.Ordered = true
	if t.key == nil {
		t.orderUnknown = true
		if !t.spec.Broken {
			r.fail(a.OrderedBy.Pos, "E413", fmt.Sprintf("ordered_by: record_key needs record_key on topic %s", quote(t.spec.Name.Value)),
				"for example record_key: {order_id: uuid}")
		}
	}
}

func (r *resolver) resolveUnhandled(t *topic) {
	u := t.spec.Unhandled
	if u == nil {
		return
	}
	if u.UnknownType != nil {
		t.model.UnknownType = u.UnknownType.Value
		if t.spec.EventType == nil && !t.spec.Broken {
			r.fail(u.UnknownType.Key, "E401", fmt.Sprintf("topic %s has no event_type, so no type is unknown to it", quote(t.spec.Name.Value)),
				"drop unknown_type, or say where the type is: event_type: {header: event-type} or {path: type}")
		}
	}
	if u.Tombstone != nil {
		t.model.Tombstone = u.Tombstone.Value
		for _, e := range t.events {
			if e.model.Tombstone {
				r.fail(u.Tombstone.Key, "E405", fmt.Sprintf("event %s takes the tombstones of topic %s, so none is unhandled", quote(e.spec.Name.Value), quote(t.spec.Name.Value)),
					"drop tombstone here, or the event")
				return
			}
		}
	}
}
