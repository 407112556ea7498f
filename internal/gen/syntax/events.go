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
			w.ds.Add(name.Pos, "E406", ve.what+" does nothing: it has no write, handle or effect",
				`add one of them; to skip this type on purpose, list its text under "ignore" of the topic`)
		}
	})
}

// HasCode reports whether Go code of the service gets the event.
func (v *Event) HasCode() bool { return v.Handle != nil && v.Handle.Value || v.Effect != nil }

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
