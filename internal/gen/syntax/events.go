package syntax

// Event is an entry of events.
type Event struct {
	Name      Text // Pos is the key
	Doc       Doc
	Type      *Texts // type texts; Key is the key "type"
	Tombstone *Bool
	EventFields
	IdempotencyKey *IdempotencyKey
	WriteKey       Pos // the key "write"; zero if absent
	Write          []*Step
	EventDoes
	Pos    Pos // the map
	Broken bool
}

// EventDoes is what an event does beside its steps.
type EventDoes struct {
	Handle *Bool
	Effect *Effect
}

// EventFields are what an event reads.
type EventFields struct {
	Root       *Path    // where paths start
	FieldsKey  Pos      // the key "fields"; zero if absent
	FieldsType *Text    // fields is the name of a type
	Fields     []*Field // fields is a map
	Taken      bool     // Fields are those of a message, and no line declares them: some may go unused
}

var eventKeys = docKeys(func(v *Event) *Doc { return &v.Doc },
	key[Event]{name: "type", value: put(shape{scalar: true, items: &scalarShape}, func(v *Event) **Texts { return &v.Type }, oneOrMore)},
	key[Event]{name: "version", instead: joinedTexts},
	key[Event]{name: "tombstone", value: boolValue(func(v *Event) **Bool { return &v.Tombstone })},
	key[Event]{name: "root", value: pathOfMembers(func(v *Event) **Path { return &v.Root })},
	key[Event]{name: "fields", value: value[Event]{shape{scalar: true, entries: fieldsShape.entries}, readEventFields}},
	key[Event]{name: "idempotency_key", value: idempotencyKeyValue(func(v *Event) **IdempotencyKey { return &v.IdempotencyKey })},
	key[Event]{name: "write", value: value[Event]{shape{items: &shape{keys: stepShapes()}}, readWrite}},
	key[Event]{name: "handle", value: boolValue(func(v *Event) **Bool { return &v.Handle })},
	key[Event]{name: "effect", value: put(shape{keys: effectKeys.shapes()}, func(v *Event) **Effect { return &v.Effect }, readEffect)},
	key[Event]{name: "lock", instead: "a lock is of an effect: effect: {lock: {orders: order_id}}; a handler takes pg_advisory_xact_lock in its own transaction"},
	key[Event]{name: "erase_traces", instead: "idemgen dead discard --record-key KEY --erase erases what dead letters keep; keep and window bound the rest"},
	key[Event]{name: "on_failure", instead: "say it of the topic; events that need another policy are of a topic of their own"},
	key[Event]{name: "may_emit", instead: toOutbox},
	key[Event]{name: "accept", instead: noWarnings},
	key[Event]{name: "renamed_from", instead: "an event keeps its name, which is in its keys; type says what producers call it"},
)

func readEvents(w *walker, e entry, t *Topic) bool {
	if !w.isMap(e) || !w.some(e) {
		return false
	}
	return w.named(e, eventNames, func(name Text, valid bool, n *Node) {
		v := &Event{Name: name, Pos: n.Pos}
		t.Events = append(t.Events, v)
		ve := entry{"event " + quote(name.Value), name.Pos, n}
		v.Broken = !walkMap(w, ve, eventKeys, v) || !valid
		if !v.Broken && len(v.Write) == 0 && !v.HasCode() {
			v.Broken = true
			w.ds.Add(name.Pos, "E406", ve.what+" does nothing: it has neither write, handle nor effect",
				`add one of them; to pass over this type on purpose, list its text under "ignore" of the topic`)
		}
	})
}

// HasCode reports whether Go code of the service gets the event.
func (v *Event) HasCode() bool { return v.Handle != nil && v.Handle.Value || v.Effect != nil }

// readTypeTexts reads one text or a list of them.
// readEventFields reads a map of fields or the name of a type.
func readEventFields(w *walker, e entry, v *Event) bool {
	v.FieldsKey = e.key
	if e.node.Kind == ScalarNode && !e.node.null() {
		t, ok := w.full(e)
		v.FieldsType = t
		return ok
	}
	return readFields(w, e, eventField, &v.Fields)
}

func readWrite(w *walker, e entry, v *Event) bool {
	v.WriteKey = e.key
	if !w.isList(e) {
		return false
	}
	for _, item := range e.node.Items {
		v.Write = append(v.Write, readStep(w, item))
	}
	return true
}
