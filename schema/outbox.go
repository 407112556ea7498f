package schema

import "fmt"

// Outbox is what the service sends: events that leave through a table of its own.
type Outbox struct {
	Key    Pos
	Pos    Pos
	Relay  *Text // polling or debezium
	Events []*OutEvent
	Broken bool
}

// OutEvent is an entry of events of the outbox.
type OutEvent struct {
	Name      Text // Pos is the key
	Doc       Doc
	Topic     *Text
	Type      *Text
	RecordKey *RecordKey
	Headers   []OutHeader
	FieldsKey Pos // the key "fields"; zero if absent
	Fields    []*Field
	Tombstone *Bool
	Naming    *Text
	Pos       Pos // the map
	Broken    bool
}

// OutHeader gives a header of the records the value of a field.
type OutHeader struct {
	Name  Text // Pos is the key
	Field Text
}

// The headers of every record that leaves through an outbox.
const (
	EventIDHeader   = "Idempotency-Key"
	EventTypeHeader = "event-type"
)

var outboxKeys = keys[Outbox]{
	{name: "relay", value: value[Outbox]{shape{words: []string{"polling"}}, readRelay}},
	{name: "events", required: true, example: "for example events: {OrderAccepted: {topic: orders.accepted.v1, record_key: {order_id: uuid}, fields: {order_id: uuid}}}",
		value: value[Outbox]{shape{entries: &shape{keys: outEventKeys.shapes()}}, readOutEvents}},
}

var outEventKeys = docKeys(func(v *OutEvent) *Doc { return &v.Doc },
	key[OutEvent]{name: "topic", required: true, example: "name the topic of Kafka to which the event goes, for example topic: orders.accepted.v1",
		value: nameValue(topicNames, func(v *OutEvent) **Text { return &v.Topic })},
	key[OutEvent]{name: "record_key", required: true, example: "name what keeps its records in order, for example record_key: {order_id: uuid}",
		value: put(shape{entries: &shape{scalar: true, keys: keyPartKeys.shapes()}}, func(v *OutEvent) **RecordKey { return &v.RecordKey }, readRecordKey)},
	key[OutEvent]{name: "type", value: put(scalarShape, func(v *OutEvent) **Text { return &v.Type }, (*walker).full)},
	key[OutEvent]{name: "headers", value: value[OutEvent]{shape{entries: &scalarShape}, readOutHeaders}},
	key[OutEvent]{name: "fields", value: value[OutEvent]{fieldsShape, func(w *walker, e entry, v *OutEvent) bool {
		v.FieldsKey = e.key
		return w.some(e) && readFields(w, e, objectField, &v.Fields)
	}}},
	key[OutEvent]{name: "tombstone", value: boolValue(func(v *OutEvent) **Bool { return &v.Tombstone })},
	key[OutEvent]{name: "naming", value: wordValue(func(v *OutEvent) **Text { return &v.Naming }, "snake_case", "camelCase", "PascalCase", "kebab-case")},
)

func readOutbox(w *walker, e entry) (*Outbox, bool) {
	o := &Outbox{Key: e.key, Pos: e.node.Pos}
	o.Broken = !walkMap(w, e, outboxKeys, o)
	return o, true
}

// readRelay reads what sends the rows.
func readRelay(w *walker, e entry, o *Outbox) bool {
	if n := e.node; n.Kind == ScalarNode && n.Text == "debezium" {
		w.unbuilt(n.Pos, "relay: debezium", "until then, leave it out: the relay polls")
		return false
	}
	t, ok := w.word(e, []string{"polling"}, nil, "")
	o.Relay = t
	return ok
}

func readOutEvents(w *walker, e entry, o *Outbox) bool {
	if !w.isMap(e) || !w.some(e) {
		return false
	}
	return w.named(e, outEventNames, func(name Text, valid bool, n *Node) {
		v := &OutEvent{Name: name, Pos: n.Pos}
		o.Events = append(o.Events, v)
		ve := entry{"outbox event " + quote(name.Value), name.Pos, n}
		v.Broken = !walkMap(w, ve, outEventKeys, v) || !valid
		checkOutEvent(w, ve, v)
	})
}

// checkOutEvent checks what one entry shows by itself.
func checkOutEvent(w *walker, e entry, v *OutEvent) {
	refuse := func(pos Pos, message, hint string) {
		v.Broken = true
		w.ds.Add(pos, "E806", e.what+" "+message, hint)
	}
	tombstone := v.Tombstone != nil && v.Tombstone.Value
	switch {
	case tombstone && v.FieldsKey != Pos{}:
		v.Broken = true
		w.ds.Add(v.FieldsKey, "E808", e.what+" is a tombstone and has no fields", "drop fields, or drop tombstone; the record key and headers go with a tombstone")
	case tombstone && v.Naming != nil:
		refuse(v.Naming.Key, "is a tombstone, so naming means nothing here", "drop it")
	case !tombstone && e.node.Get("fields") == nil && !misspelt(e, outEventKeys, "fields") && !v.Broken:
		refuse(v.Name.Pos, "has no fields", "list what its value holds under fields; a record without a value is tombstone: true")
	}
	if r := v.RecordKey; r != nil && !r.Broken && (len(r.Parts) != 1 || r.Parts[0].Path != nil) {
		refuse(r.Key, "has a record key of several parts, or with a path", "the key of what a service sends is the text of one value: record_key: {order_id: uuid}")
	}
	for _, f := range v.Fields {
		for _, k := range []struct {
			name string
			pos  Pos
		}{{"default", posOf(f.Default)}, {"patch", posOfBool(f.Patch)}} {
			if k.pos != (Pos{}) {
				f.Broken = true
				refuse(k.pos, fmt.Sprintf("is made by this service, so %s of field %s means nothing here", k.name, quote(f.Name.Value)), "drop it")
			}
		}
	}
}

func posOf(t *Text) (at Pos) {
	if t != nil {
		at = t.Key
	}
	return at
}

func posOfBool(b *Bool) (at Pos) {
	if b != nil {
		at = b.Key
	}
	return at
}

func readOutHeaders(w *walker, e entry, v *OutEvent) bool {
	if !w.isMap(e) || !w.some(e) {
		return false
	}
	ok := true
	for p := range w.pairs(e) {
		he := entry{"header " + quote(p.Key), p.KeyPos, p.Value}
		field, fine := w.full(he)
		switch {
		case p.Key == EventIDHeader || p.Key == EventTypeHeader:
			w.ds.Add(p.KeyPos, "E806", fmt.Sprintf("header %s of outbox event %s is set by idemgen", quote(p.Key), quote(v.Name.Value)), "every record has "+EventIDHeader+" and "+EventTypeHeader+": name yours otherwise")
			fine = false
		case !outHeaderPattern.MatchString(p.Key):
			w.ds.Add(p.KeyPos, "E201", quote(p.Key)+" is not a valid header of the outbox", "a letter, then up to 40 letters, digits, - or _")
			fine = false
		}
		if ok = ok && fine; fine {
			v.Headers = append(v.Headers, OutHeader{Name: Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}, Field: *field})
		}
	}
	return ok
}
