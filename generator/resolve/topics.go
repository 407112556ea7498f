package resolve

import (
	"fmt"
	"slices"

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

func (t *topic) complete() bool {
	if t.spec.Broken || t.orderUnknown || slices.ContainsFunc(t.fields, func(f fieldInfo) bool { return f.field == nil }) {
		return false
	}
	return !slices.ContainsFunc(t.events, func(e *event) bool { return e.unsure || e.model.Key == nil })
}

// topicReader reads topics, with what is read before them.
type topicReader struct {
	report   *schema.Diagnostics
	consumer *schema.Text
	failure  model.FailurePolicy // of the whole spec
	types    *types
	tables   *tables
}

func (r *topicReader) resolveTopic(spec *schema.Topic) *topic {
	t := &topic{spec: spec, key: resolveRecordKey(r.report, r.types, spec.RecordKey)}
	t.model = &model.Topic{
		Name: spec.Name.Value, GoName: goNameOf(spec.Name.Value, spec.Doc), FileName: fileName(spec.Name.Value, spec.Doc), Doc: docOf(spec.Doc),
		UnknownType: "dead_letter", Tombstone: "dead_letter", StartFrom: "earliest",
		OnFailure: resolveFailure(r.report, r.failure, spec.OnFailure),
	}
	if t.key != nil {
		t.model.RecordKey = t.key.model
	}
	if spec.StartFrom != nil {
		t.model.StartFrom = spec.StartFrom.Value
	}
	resolveAssume(r.report, t)
	owner := "topic " + quote(spec.Name.Value)
	for _, f := range spec.Fields {
		in := resolveField(r.report, r.types, f, owner)
		matchPart(r.report, t.key, in)
		t.fields = append(t.fields, in)
	}
	for _, e := range spec.Events {
		ev := r.resolveEvent(t, e)
		t.events = append(t.events, ev)
		t.model.Events = append(t.model.Events, ev.model)
	}
	resolveDiscriminator(r.report, t)
	resolveUnhandled(r.report, t)
	t.resolveKeep()
	return t
}

func resolveAssume(report *schema.Diagnostics, t *topic) {
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
		checkPromiseHasOrder(report, t)
		return
	}
	t.model.Ordered = true
	if t.key == nil {
		t.orderUnknown = true
		if !t.spec.Broken {
			report.Add(a.OrderedBy.Pos, "E413", fmt.Sprintf("ordered_by: record_key needs record_key on topic %s", quote(t.spec.Name.Value)),
				"for example record_key: {order_id: uuid}")
		}
	}
}

// checkPromiseHasOrder reports copies_keep_record_key without ordered_by (E413): a record key
// that all copies carry says where they are only if it stays in one partition.
func checkPromiseHasOrder(report *schema.Diagnostics, t *topic) {
	if !t.model.CopiesKeepKey {
		return
	}
	t.orderUnknown = true
	if !t.spec.Broken && !t.spec.Assume.Broken {
		state := "state ordered_by: record_key too"
		if t.key == nil {
			state = "declare record_key and " + state
		}
		report.Add(t.spec.Assume.CopiesKeepKey.Key, "E413", fmt.Sprintf("copies_keep_record_key needs ordered_by: record_key on topic %s", quote(t.spec.Name.Value)),
			state+" if one record key stays in one partition, or drop copies_keep_record_key")
	}
}

func resolveUnhandled(report *schema.Diagnostics, t *topic) {
	u := t.spec.Unhandled
	if u == nil {
		return
	}
	if u.UnknownType != nil {
		t.model.UnknownType = u.UnknownType.Value
		if t.spec.EventType == nil && !t.spec.Broken {
			report.Add(u.UnknownType.Key, "E401", fmt.Sprintf("topic %s has no event_type, so no type is unknown to it", quote(t.spec.Name.Value)),
				"drop unknown_type, or say where the type is: event_type: {header: event-type} or {path: type}")
		}
	}
	if u.Tombstone != nil {
		t.model.Tombstone = u.Tombstone.Value
		for _, e := range t.events {
			if e.model.Tombstone {
				report.Add(u.Tombstone.Key, "E405", fmt.Sprintf("event %s takes the tombstones of topic %s, so none is unhandled", quote(e.spec.Name.Value), quote(t.spec.Name.Value)),
					"drop tombstone here, or the event")
				return
			}
		}
	}
}
