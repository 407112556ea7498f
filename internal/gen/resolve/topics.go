package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// topicReader reads topics, with what is read before them.
type topicReader struct {
	report   *syntax.Diagnostics
	consumer *syntax.Text
	types    *draft.Types            // by the naming of the first topic
	spelled  map[string]*draft.Types // by naming
	tables   *draft.Tables
	missing  []missingField // of the topic that is read
}

func (r *topicReader) resolveTopic(spec *syntax.Topic) *draft.Topic {
	t := &draft.Topic{Spec: spec, Types: r.spelled[namingOf(spec)], Key: resolveRecordKey(r.report, r.types, spec)}
	r.checkAlone(spec)
	t.Model = &model.Topic{
		Name: spec.Name.Value, GoName: goname.Of(spec.Name.Value), FileName: goname.File(spec.Name.Value), Doc: docOf(spec.Doc),
		StartFrom: "earliest",
		OnFailure: resolveFailure(spec.OnFailure),
	}
	if t.Key != nil {
		t.Model.RecordKey = t.Key.Model
	}
	if p := spec.Payload; p != nil {
		if p.Marker != nil {
			t.Model.Payload.AbsentMarker = p.Marker.Value
		}
		t.Model.Payload.Packed = packed(&p.Packing)
	}
	if spec.StartFrom != nil {
		t.Model.StartFrom = spec.StartFrom.Value
	}
	t.Model.Kafka = inKafka(spec)
	resolveAssume(r.report, t)
	r.checkParked(t)
	owner := "topic " + wording.Quote(spec.Name.Value)
	at := topicPlace(spec)
	for _, f := range spec.Fields {
		in := resolveField(r.report, t.Types, f, owner, at)
		matchPart(r.report, t.Key, in)
		t.Fields = append(t.Fields, in)
	}
	for _, e := range spec.Events {
		ev := r.resolveEvent(t, e)
		t.Events = append(t.Events, ev)
		t.Model.Events = append(t.Model.Events, ev.Model)
	}
	r.failMissing(t)
	resolveDiscriminator(r.report, t)
	resolveSkip(r.report, t)
	resolveKeep(t)
	return t
}

// packed is what values or keys are packed in.
func packed(p *syntax.Packing) model.Packed {
	is := model.Packed{Encoding: p.Encoded()}
	if p.OfMessages() && p.Schema != nil {
		file, message := p.SchemaParts()
		is.Messages = &model.Messages{File: file, Name: message, Avro: p.Avro(), Framed: p.Framed()}
	}
	return is
}

// inKafka are the names of the entry's topics.
func inKafka(spec *syntax.Topic) (names []string) {
	if spec.InKafka == nil {
		return []string{spec.Name.Value}
	}
	for _, name := range spec.InKafka.Items {
		names = append(names, name.Value)
	}
	return names
}

// checkParked reports that records are to wait for a record key that the topic does not have
// (E413).
func (r *topicReader) checkParked(t *draft.Topic) {
	if t.Model.OnFailure.Park && t.Key == nil && !t.Spec.Broken {
		r.report.Add(t.Spec.OnFailure.Park.Pos, "E413", fmt.Sprintf("park: record_key needs record_key on topic %s", wording.Quote(t.Spec.Name.Value)), "for example record_key: {order_id: uuid}")
	}
}

// resolveAssume resolves what the producer promises.
func resolveAssume(report *syntax.Diagnostics, t *draft.Topic) {
	ordered, keep := t.Spec.Assume.Get("ordered"), t.Spec.Assume.Get("copies_keep_record_key")
	t.OrderUnknown = t.Spec.Broken || t.Key != nil && !t.Key.Known
	t.Model.Ordered, t.Model.CopiesKeepKey = ordered != nil, keep != nil
	t.Model.UniqueRecords = t.Spec.Assume.Get("unique") != nil
	switch {
	case keep != nil && ordered == nil:
		checkPromiseHasOrder(report, t, keep)
	case ordered != nil && t.Key == nil:
		t.OrderUnknown = true
		if !t.Spec.Broken {
			report.Add(ordered.Pos, "E413", "ordered needs record_key on topic "+wording.Quote(t.Spec.Name.Value), "for example record_key: {order_id: uuid}")
		}
	}
}

// checkPromiseHasOrder reports copies_keep_record_key without ordered (E413): a record key that
// all copies carry says where they are only if it stays in one partition.
func checkPromiseHasOrder(report *syntax.Diagnostics, t *draft.Topic, keep *syntax.Text) {
	t.OrderUnknown = true
	if t.Spec.Broken {
		return
	}
	state := "add ordered"
	if t.Key == nil {
		state = "declare record_key and " + state
	}
	report.Add(keep.Pos, "E413", "copies_keep_record_key needs ordered on topic "+wording.Quote(t.Spec.Name.Value),
		state+" if each record key stays in one partition, or remove copies_keep_record_key")
}

// resolveSkip resolves which records are passed over that no event takes.
func resolveSkip(report *syntax.Diagnostics, t *draft.Topic) {
	unknown, tombstone := t.Spec.Skip.Get("unknown_type"), t.Spec.Skip.Get("tombstone")
	t.Model.SkipUnknown, t.Model.SkipTombstone = unknown != nil, tombstone != nil
	if unknown != nil && t.Spec.EventType == nil && !t.Spec.Broken {
		report.Add(unknown.Pos, "E401", fmt.Sprintf("topic %s has no event_type, so no type is unknown to it", wording.Quote(t.Spec.Name.Value)),
			"remove unknown_type, or declare where the type is: event_type: {header: event-type} or {path: type}")
	}
	for _, e := range t.Events {
		if e.Model.Tombstone && tombstone != nil {
			report.Add(tombstone.Pos, "E405", fmt.Sprintf("event %s takes the tombstones of topic %s, so none is skipped", wording.Quote(e.Spec.Name.Value), wording.Quote(t.Spec.Name.Value)),
				"remove tombstone here, or remove the event")
			return
		}
	}
}
