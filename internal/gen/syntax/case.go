package syntax

// Case is one case: rows that are there, records that come, and what must be there then. A
// pointer is nil and a slice is empty if the key is absent or was refused; in the second case
// Broken is set. Names and values are texts with positions: what they mean, the spec says.
type Case struct {
	File        string // path as given
	Description *Text
	Given       []*CaseTable
	Events      []*CaseEvent
	Then        []*CaseTable
	DeadLetters []ClassCount // by class, as then says; absent means none
	Calls       []CallCount  // of effects, by event, as then says; of others nothing is said
	Nothing     bool         // then is nothing: the tables stay as given
	Broken      bool
}

// CaseEvent is one record.
type CaseEvent struct {
	Topic     *Text
	Key       *Node // of a record key that is a JSON object, a map; nil: the record has none
	Headers   []CaseHeader
	Timestamp *Text
	Value     *Node // the payload, to be read by the event's fields; null: a tombstone
	Text      *Text // the payload as it is, instead of Value
	// What the call of its effect returns: a result, or why it did nothing, or why nobody knows what
	// it did. At most one is not nil.
	Result      *Node
	Error       *Text
	Interrupted *Text
	Pos         Pos // the map
	Broken      bool
}

// CaseHeader is one header of a record. A nil Value is null.
type CaseHeader struct {
	Name  Text
	Value *Text
}

// LoadCase reads a case. File is the path as the user gave it. The Case is never nil; what could
// not be read is missing in it and marked Broken. It never panics.
func LoadCase(file string, data []byte) (*Case, Diagnostics) {
	c := &Case{File: file}
	root, ds := parse(Diagnostics{kind: "case"}, data)
	if root == nil {
		c.Broken = true
		if len(ds.list) == 0 {
			ds.Add(Pos{Line: 1, Col: 1, Width: 1}, "E106", "the case must be a map, not empty", "a case has events and then, and optionally given: rows that exist before the records")
		}
		return c, ds
	}
	w := &walker{ds: &ds}
	c.Broken = !walkMap(w, entry{what: "the case", node: root}, caseKeys, c)
	return c, ds
}

func readCaseEvents(w *walker, e entry, c *Case) bool {
	if !w.isList(e) || !w.some(e) {
		return false
	}
	ok := true
	for _, item := range e.node.Items {
		ev := &CaseEvent{Pos: item.Pos}
		ie := entry{what: "an event", node: item}
		ev.Broken = !walkMap(w, ie, caseEventKeys, ev)
		if !ev.Broken && (item.Get("value") == nil) == (item.Get("text") == nil) {
			w.ds.Add(firstKey(ie), "E110", "an event must have either value or text", "value: null for a record without a value")
			ev.Broken = true
		}
		oneReturn(w, item, ev)
		ok = ok && !ev.Broken
		c.Events = append(c.Events, ev)
	}
	return ok
}

// oneReturn refuses a call that returns several things.
func oneReturn(w *walker, n *Node, ev *CaseEvent) {
	first := ""
	for _, p := range n.Pairs {
		switch p.Key {
		case "result", "error", "interrupted":
			if first != "" && first != p.Key {
				w.ds.Add(p.KeyPos, "E110", "a call has one outcome, but here are two: "+first+" and "+p.Key, "keep one of them")
				ev.Broken = true
			}
			first = p.Key
		}
	}
}

func readCaseHeaders(w *walker, e entry, ev *CaseEvent) bool {
	if !w.isMap(e) {
		return false
	}
	ok := true
	for p := range w.pairs(e) {
		h := CaseHeader{Name: Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}}
		if p.Value.Kind != ScalarNode || p.Value.Quoted || !p.Value.null() {
			text, fine := w.text(entry{"header " + quote(p.Key), p.KeyPos, p.Value})
			if !fine {
				ok = false
				continue
			}
			h.Value = text
		}
		ev.Headers = append(ev.Headers, h)
	}
	return ok
}

// nodeValue is any value: what may be in it, the spec says.
func nodeValue[T any](at func(*T) **Node) value[T] {
	return put(Shape{Any: true}, at, func(w *walker, e entry) (*Node, bool) { return e.node, w.once(e.node) })
}

// once reports keys that stand twice in a map of the value.
func (w *walker) once(n *Node) bool {
	before := len(w.ds.list)
	for range w.pairs(entry{what: "the value", node: n}) {
	}
	for _, p := range n.Pairs {
		w.once(p.Value)
	}
	for _, item := range n.Items {
		w.once(item)
	}
	return len(w.ds.list) == before
}

// Null reports whether the value is missing: nothing, ~ or null, not in quotes.
func (n *Node) Null() bool { return n.null() }
