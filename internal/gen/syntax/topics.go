package syntax

// Topic is an entry of topics.
type Topic struct {
	Name           Text // Pos is the key
	Doc            Doc
	RecordKey      *RecordKey
	KeyFormat      *KeyFormat
	Assume         *Words // promises of the producer: ordered, unique, copies_keep_record_key
	Payload        *Payload
	InKafka        *Texts   // names in Kafka: one topic, or several; nil for that of the entry's own
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
	EventType []*Discriminator // whose texts are joined; nil if it is not there
	Ignore    *Texts
	Skip      *Words // tombstone, unknown_type
}

var topicKeys = docKeys(func(t *Topic) *Doc { return &t.Doc },
	key[Topic]{name: "record_key", value: put(shape{entries: &shape{scalar: true, keys: keyPartKeys.shapes()}}, func(t *Topic) **RecordKey { return &t.RecordKey }, readRecordKey)},
	key[Topic]{name: "record_key_format", value: put(shape{keys: keyFormatKeys.shapes()}, func(t *Topic) **KeyFormat { return &t.KeyFormat }, readKeyFormat)},
	key[Topic]{name: "assume", value: wordsValue(func(t *Topic) **Words { return &t.Assume }, "ordered", "unique", "copies_keep_record_key")},
	key[Topic]{name: "ordered_by", instead: "it is a promise: write assume: [ordered]"},
	key[Topic]{name: "payload", value: put(shape{keys: payloadKeys.shapes()}, func(t *Topic) **Payload { return &t.Payload }, readPayload)},
	key[Topic]{name: "envelope", instead: "attributes of a CloudEvent are headers named ce_... in binary mode, and members beside payload: {root: data} in structured mode"},
	key[Topic]{name: "fields", value: value[Topic]{fieldsShape, func(w *walker, e entry, t *Topic) bool { return readFields(w, e, eventField, &t.Fields) }}},
	key[Topic]{name: "idempotency_key", value: idempotencyKeyValue(func(t *Topic) **IdempotencyKey { return &t.IdempotencyKey })},
	key[Topic]{name: "event_type", value: value[Topic]{
		shape{keys: discriminatorKeys.shapes(), items: &shape{keys: discriminatorKeys.shapes()}}, readEventType}},
	key[Topic]{name: "event_version", instead: joinedTexts},
	key[Topic]{name: "ignore", value: put(shape{items: &scalarShape}, func(t *Topic) **Texts { return &t.Ignore }, func(w *walker, e entry) (*Texts, bool) { return w.texts(e, 0) })},
	key[Topic]{name: "skip", value: wordsValue(func(t *Topic) **Words { return &t.Skip }, "tombstone", "unknown_type")},
	key[Topic]{name: "unhandled", instead: "write skip: [tombstone, unknown_type] for those to skip; the others become dead letters, or halt the partition with on_failure: {give_up: stop}"},
	key[Topic]{name: "start_from", value: wordValue(func(t *Topic) **Text { return &t.StartFrom }, "earliest", "latest", "committed")},
	key[Topic]{name: "events", required: true, example: "for example events: {OrderPlaced: {handle: true}}", value: value[Topic]{shape{entries: &shape{keys: eventKeys.shapes()}}, readEvents}},
	key[Topic]{name: "on_failure", value: put(shape{keys: failureKeys.shapes()}, func(t *Topic) **FailurePolicy { return &t.OnFailure }, readFailurePolicy)},
	key[Topic]{name: "name", value: put(shape{scalar: true, items: &scalarShape}, func(t *Topic) **Texts { return &t.InKafka }, readInKafka)},
	key[Topic]{name: "names", instead: "write name: [orders.eu.v1, orders.us.v1]"},
	key[Topic]{name: "pattern", instead: "list the topics: name: [orders.eu.v1, orders.us.v1]; a field that says which one it was is {type: string, record: topic}"},
	key[Topic]{name: "accept", instead: noWarnings},
	key[Topic]{name: "renamed_from", instead: "a topic keeps the name of its entry, which is in its keys; name says what Kafka calls it"},
)

// noWarnings is what to do about a warning that is meant.
const noWarnings = "leave it out: there are no warnings"

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

// readInKafka reads the name of a topic, or those of several.
func readInKafka(w *walker, e entry) (*Texts, bool) {
	t, ok := oneOrMore(w, e)
	if !ok {
		return t, false
	}
	for i := range t.Items {
		ok = w.name(topicNames, t.Items[i].Pos, t.Items[i].Value) && ok
	}
	return t, ok
}

// joinedTexts is what to do about a version that tells events of one type apart.
const joinedTexts = "write event_type: [{header: event-type}, {header: version}]; the texts are joined: type: order.placed/2"

// readEventType reads where the texts are that tell events apart: one place, or a list of them.
func readEventType(w *walker, e entry, t *Topic) bool {
	if e.node.Kind != ListNode {
		t.EventType = []*Discriminator{readDiscriminator(w, e)}
		return !t.EventType[0].Broken
	}
	if !w.some(e) {
		return false
	}
	ok := true
	for _, item := range e.node.Items {
		d := readDiscriminator(w, entry{what: "an item of event_type", node: item})
		t.EventType = append(t.EventType, d)
		ok = ok && !d.Broken
	}
	return ok
}

// Discriminator is where a text that tells events apart is found: one of Header and Path, unless
// Broken.
type Discriminator struct {
	Pos    Pos
	Header *Text
	Path   *Path
	Broken bool
}

var discriminatorKeys = keys[Discriminator]{
	{name: "header", value: textValue(func(d *Discriminator) **Text { return &d.Header })},
	{name: "path", value: pathOfMembers(func(d *Discriminator) **Path { return &d.Path })},
	{name: "ce", instead: ofCloudEvents},
	{name: "segment", instead: "name a header or a member: {header: event-type} or {path: type}"},
	{name: "schema", instead: "name a header or a member: {header: event-type} or {path: type}"},
}

func readDiscriminator(w *walker, e entry) *Discriminator {
	d := &Discriminator{Pos: e.node.Pos}
	d.Broken = !walkMap(w, e, discriminatorKeys, d)
	if !d.Broken && len(e.node.Pairs) != 1 {
		d.Broken = true
		w.ds.Add(firstKey(e), "E110", e.what+" must have exactly one of header and path", "write {header: event-type} or {path: type}")
	}
	return d
}
