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

func readDiscriminator(w *walker, e entry) *Discriminator {
	d := &Discriminator{Pos: e.node.Pos}
	d.Broken = !walkMap(w, e, discriminatorKeys, d)
	if !d.Broken && len(e.node.Pairs) != 1 {
		d.Broken = true
		w.ds.Add(firstKey(e), "E110", e.what+" must have exactly one of header and path", "write {header: event-type} or {path: type}")
	}
	return d
}
