package schema

import "strings"

// Topic is an entry of topics.
type Topic struct {
	Name      Text // Pos is the key
	Doc       Doc
	RecordKey *RecordKey
	Assume    *Assume
	Values
	Subscribed
	Fields         []*Field // fields that every event of the topic has
	IdempotencyKey *IdempotencyKey
	Dispatch
	StartFrom *Text // earliest, latest or committed
	Events    []*Event
	OnFailure *FailurePolicy
	Pos       Pos // the map
	Broken    bool
}

// Subscribed says which topics of Kafka the entry is about: that of its own name if it says
// nothing.
type Subscribed struct {
	InKafka *Text  // name: one topic
	Several *Texts // names
	Pattern *Pattern
}

// Values says what the values of a topic's records are.
type Values struct {
	Payload  *Payload
	Envelope *Text // cloudevents; nil if there is none
}

// Dispatch says how a record's event is found.
type Dispatch struct {
	EventType    *Discriminator
	EventVersion *Discriminator // nil if events of one type are not told apart by version
	Ignore       *Texts
	Unhandled    *Unhandled
}

var topicKeys = docKeys(func(t *Topic) *Doc { return &t.Doc },
	key[Topic]{name: "record_key", value: put(shape{entries: &shape{scalar: true, keys: keyPartKeys.shapes()}}, func(t *Topic) **RecordKey { return &t.RecordKey }, readRecordKey)},
	key[Topic]{name: "assume", value: put(shape{keys: assumeKeys.shapes()}, func(t *Topic) **Assume { return &t.Assume }, readAssume)},
	key[Topic]{name: "ordered_by", instead: "it is a promise: write assume: {ordered_by: record_key}"},
	key[Topic]{name: "payload", value: put(shape{keys: payloadKeys.shapes()}, func(t *Topic) **Payload { return &t.Payload }, readPayload)},
	key[Topic]{name: "envelope", value: wordValue(func(t *Topic) **Text { return &t.Envelope }, "cloudevents")},
	key[Topic]{name: "fields", value: value[Topic]{fieldsShape, func(w *walker, e entry, t *Topic) bool { return readFields(w, e, eventField, &t.Fields) }}},
	key[Topic]{name: "idempotency_key", value: idempotencyKeyValue(func(t *Topic) **IdempotencyKey { return &t.IdempotencyKey })},
	key[Topic]{name: "event_type", value: put(shape{keys: discriminatorKeys.shapes()}, func(t *Topic) **Discriminator { return &t.EventType }, readDiscriminator)},
	key[Topic]{name: "event_version", value: put(shape{keys: discriminatorKeys.shapes()}, func(t *Topic) **Discriminator { return &t.EventVersion }, readDiscriminator)},
	key[Topic]{name: "ignore", value: put(shape{items: &scalarShape}, func(t *Topic) **Texts { return &t.Ignore }, func(w *walker, e entry) (*Texts, bool) { return w.texts(e, 0) })},
	key[Topic]{name: "unhandled", value: put(shape{keys: unhandledKeys.shapes()}, func(t *Topic) **Unhandled { return &t.Unhandled }, readUnhandled)},
	key[Topic]{name: "start_from", value: wordValue(func(t *Topic) **Text { return &t.StartFrom }, "earliest", "latest", "committed")},
	key[Topic]{name: "events", required: true, example: "for example events: {OrderPlaced: {handle: true}}", value: value[Topic]{shape{entries: &shape{keys: eventKeys.shapes()}}, readEvents}},
	key[Topic]{name: "on_failure", value: put(shape{keys: failureKeys.shapes()}, func(t *Topic) **FailurePolicy { return &t.OnFailure }, readFailurePolicy)},
	key[Topic]{name: "name", value: put(scalarShape, func(t *Topic) **Text { return &t.InKafka }, func(w *walker, e entry) (*Text, bool) {
		t, ok := w.full(e)
		return t, ok && w.name(topicNames, t.Pos, t.Value)
	})},
	key[Topic]{name: "names", value: put(shape{items: &scalarShape}, func(t *Topic) **Texts { return &t.Several }, readNames)},
	key[Topic]{name: "pattern", value: put(scalarShape, func(t *Topic) **Pattern { return &t.Pattern }, readPattern)},
	accept(func(t *Topic) *Doc { return &t.Doc }),
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
		checkSubscribed(w, te, t)
	})
}

// checkSubscribed reports topics that are named in two ways (E110).
func checkSubscribed(w *walker, e entry, t *Topic) {
	first := ""
	for _, p := range e.node.Pairs {
		if p.Key != "name" && p.Key != "names" && p.Key != "pattern" {
			continue
		}
		if first != "" && first != p.Key {
			t.Broken = true
			w.ds.Add(p.KeyPos, "E110", e.what+" has "+first+" and "+p.Key, "keep one of them")
		}
		first = p.Key
	}
}

// readNames reads the names of several topics.
func readNames(w *walker, e entry) (*Texts, bool) {
	t, ok := w.texts(e, 1)
	if !ok {
		return t, false
	}
	for i := range t.Items {
		ok = w.name(topicNames, t.Items[i].Pos, t.Items[i].Value) && ok
	}
	return t, ok
}

// Assume is what the producer promises.
type Assume struct {
	Key           Pos
	Pos           Pos
	OrderedBy     *Text // record_key
	UniqueRecords *Bool
	CopiesKeepKey *Bool // copies_keep_record_key
	Retention     *Duration
	Disjoint      *Bool // disjoint_topics
	Timestamp     *Text // record_timestamp: create_time
	Broken        bool
}

var assumeKeys = keys[Assume]{
	{name: "ordered_by", value: wordValue(func(a *Assume) **Text { return &a.OrderedBy }, "record_key")},
	{name: "unique_records", value: boolValue(func(a *Assume) **Bool { return &a.UniqueRecords })},
	{name: "copies_keep_record_key", value: boolValue(func(a *Assume) **Bool { return &a.CopiesKeepKey })},
	{name: "retention", value: durationValue(func(a *Assume) **Duration { return &a.Retention }, "1s", "3650d")},
	{name: "disjoint_topics", value: boolValue(func(a *Assume) **Bool { return &a.Disjoint })},
	{name: "record_timestamp", value: wordValue(func(a *Assume) **Text { return &a.Timestamp }, "create_time")},
}

func readAssume(w *walker, e entry) (*Assume, bool) {
	a := &Assume{Key: e.key, Pos: e.node.Pos}
	a.Broken = !walkMap(w, e, assumeKeys, a)
	return a, true
}

// Discriminator is where the type or the version of an event is found: one of Header, Path and
// Segment, unless Broken.
type Discriminator struct {
	Key     Pos
	Pos     Pos
	Header  *Text
	Path    *Path
	Segment *Text // of the topic's name
	// Attribute says that Header is an attribute of CloudEvents.
	Attribute bool
	Broken    bool
}

var discriminatorKeys = keys[Discriminator]{
	{name: "header", value: textValue(func(d *Discriminator) **Text { return &d.Header })},
	{name: "path", value: pathOfMembers(func(d *Discriminator) **Path { return &d.Path })},
	{name: "ce", value: attributeValue(func(d *Discriminator) **Text { return &d.Header }, func(d *Discriminator) *bool { return &d.Attribute })},
	{name: "segment", value: textValue(func(d *Discriminator) **Text { return &d.Segment })},
	{name: "schema", instead: "name a header or a member: {header: event-type} or {path: type}"},
}

func readDiscriminator(w *walker, e entry) (*Discriminator, bool) {
	d := &Discriminator{Key: e.key, Pos: e.node.Pos}
	d.Broken = !walkMap(w, e, discriminatorKeys, d)
	if !d.Broken && len(e.node.Pairs) != 1 {
		d.Broken = true
		w.ds.Add(firstKey(e), "E110", e.what+" must have exactly one of header, path, ce, segment", "write "+e.what+": {header: "+strings.ReplaceAll(e.what, "_", "-")+"} or {path: "+strings.TrimPrefix(e.what, "event_")+"}")
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
