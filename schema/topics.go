package schema

// Topic is an entry of topics.
type Topic struct {
	Name           Text // Pos is the key
	Doc            Doc
	RecordKey      *RecordKey
	Assume         *Assume
	Payload        *Payload
	Fields         []*Field // fields that every event of the topic has
	IdempotencyKey *IdempotencyKey
	Dispatch
	StartFrom *Text // earliest, latest or committed
	Events    []*Event
	OnFailure *FailurePolicy
	Pos       Pos // the map
	Broken    bool
}

// Dispatch says how a record's event is found.
type Dispatch struct {
	EventType *Discriminator
	Ignore    *Texts
	Unhandled *Unhandled
}

var topicKeys = docKeys(func(t *Topic) *Doc { return &t.Doc },
	key[Topic]{name: "record_key", value: put(shape{entries: &shape{scalar: true, keys: keyPartKeys.shapes()}}, func(t *Topic) **RecordKey { return &t.RecordKey }, readRecordKey)},
	key[Topic]{name: "assume", value: put(shape{keys: assumeKeys.shapes()}, func(t *Topic) **Assume { return &t.Assume }, readAssume)},
	key[Topic]{name: "payload", value: put(shape{keys: payloadKeys.shapes()}, func(t *Topic) **Payload { return &t.Payload }, readPayload)},
	key[Topic]{name: "fields", value: value[Topic]{fieldsShape, func(w *walker, e entry, t *Topic) bool { return readFields(w, e, eventField, &t.Fields) }}},
	key[Topic]{name: "idempotency_key", value: idempotencyKeyValue(func(t *Topic) **IdempotencyKey { return &t.IdempotencyKey })},
	key[Topic]{name: "event_type", value: put(shape{keys: discriminatorKeys.shapes()}, func(t *Topic) **Discriminator { return &t.EventType }, readDiscriminator)},
	key[Topic]{name: "ignore", value: put(shape{items: &scalarShape}, func(t *Topic) **Texts { return &t.Ignore }, func(w *walker, e entry) (*Texts, bool) { return w.texts(e, 0) })},
	key[Topic]{name: "unhandled", value: put(shape{keys: unhandledKeys.shapes()}, func(t *Topic) **Unhandled { return &t.Unhandled }, readUnhandled)},
	key[Topic]{name: "start_from", value: wordValue(func(t *Topic) **Text { return &t.StartFrom }, "earliest", "latest", "committed")},
	key[Topic]{name: "events", required: true, example: "for example events: {OrderPlaced: {handle: true}}", value: value[Topic]{shape{entries: &shape{keys: eventKeys.shapes()}}, readEvents}},
	key[Topic]{name: "on_failure", value: put(shape{keys: failureKeys.shapes()}, func(t *Topic) **FailurePolicy { return &t.OnFailure }, readFailurePolicy)},
	key[Topic]{name: "name", meanwhile: "the key under topics is the name that Kafka knows; in Go it can have another one: go_name"},
	key[Topic]{name: "names", meanwhile: oneByOne}, key[Topic]{name: "pattern", meanwhile: oneByOne},
	key[Topic]{name: "envelope", meanwhile: "until then, read what the envelope holds by its path: {type: string, path: data.order_id}"},
	key[Topic]{name: "event_version", meanwhile: "until then, give each version an event and a type text of its own"},
	renamedFrom(topicNames, func(t *Topic) *Doc { return &t.Doc }),
)

func readTopics(w *walker, e entry, s *Spec) bool {
	if !w.isMap(e) || !w.some(e) {
		return false
	}
	return w.named(e, topicNames, func(name Text, valid bool, n *Node) {
		t := &Topic{Name: name, Pos: n.Pos}
		s.Topics = append(s.Topics, t)
		te := entry{"topic " + quote(name.Value), name.Pos, n}
		t.Broken = !walkMap(w, te, topicKeys, t) || !valid
	})
}

// Assume is what the producer promises.
type Assume struct {
	Key           Pos
	Pos           Pos
	OrderedBy     *Text // record_key
	UniqueRecords *Bool
	CopiesKeepKey *Bool // copies_keep_record_key
	Retention     *Duration
	Broken        bool
}

var assumeKeys = keys[Assume]{
	{name: "ordered_by", value: wordValue(func(a *Assume) **Text { return &a.OrderedBy }, "record_key")},
	{name: "unique_records", value: boolValue(func(a *Assume) **Bool { return &a.UniqueRecords })},
	{name: "copies_keep_record_key", value: boolValue(func(a *Assume) **Bool { return &a.CopiesKeepKey })},
	{name: "retention", value: durationValue(func(a *Assume) **Duration { return &a.Retention }, "1s", "3650d")},
	{name: "disjoint_topics", meanwhile: "until then, if_newer orders what two topics write to one row"},
	{name: "record_timestamp", meanwhile: "until then, compare a time or version of the payload: if_newer"},
}

func readAssume(w *walker, e entry) (*Assume, bool) {
	a := &Assume{Key: e.key, Pos: e.node.Pos}
	a.Broken = !walkMap(w, e, assumeKeys, a)
	return a, true
}

// Discriminator is where the type text of an event is found: one of Header and Path,
// unless Broken.
type Discriminator struct {
	Key    Pos
	Pos    Pos
	Header *Text
	Path   *Path
	Broken bool
}

var discriminatorKeys = keys[Discriminator]{
	{name: "header", value: textValue(func(d *Discriminator) **Text { return &d.Header })},
	{name: "path", value: pathOfMembers(func(d *Discriminator) **Path { return &d.Path })},
	{name: "ce", meanwhile: binaryMode},
	{name: "segment", meanwhile: "until then, list all texts that mean the event: type: [a.1, a.2]"},
	{name: "schema", meanwhile: "until then, name a header or a member: {header: event-type} or {path: type}"},
}

func readDiscriminator(w *walker, e entry) (*Discriminator, bool) {
	d := &Discriminator{Key: e.key, Pos: e.node.Pos}
	d.Broken = !walkMap(w, e, discriminatorKeys, d)
	if !d.Broken && (d.Header == nil) == (d.Path == nil) {
		d.Broken = true
		w.ds.Add(firstKey(e), "E110", e.what+" must have exactly one of header, path", "write event_type: {header: event-type} or {path: type}")
	}
	return d, true
}

// Unhandled says what happens with records that no event takes.
type Unhandled struct {
	Key         Pos
	Pos         Pos
	UnknownType *Text // dead_letter, skip or stop
	Tombstone   *Text // dead_letter, skip or stop
	Broken      bool
}

var unhandledKeys = keys[Unhandled]{
	{name: "unknown_type", value: wordValue(func(u *Unhandled) **Text { return &u.UnknownType }, "dead_letter", "skip", "stop")},
	{name: "tombstone", value: wordValue(func(u *Unhandled) **Text { return &u.Tombstone }, "dead_letter", "skip", "stop")},
}

func readUnhandled(w *walker, e entry) (*Unhandled, bool) {
	u := &Unhandled{Key: e.key, Pos: e.node.Pos}
	u.Broken = !walkMap(w, e, unhandledKeys, u)
	return u, true
}
