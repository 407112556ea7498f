package schema

import "math"

// CaseSent is what a case says of the records that the service sends: of every event that it does
// not name there is none.
type CaseSent struct {
	Events []*SentEvent
}

// SentEvent is the records of one outbox event, or how many there are.
type SentEvent struct {
	Event   Text // its name in the spec; Pos is the key
	Records []*SentRecord
	Count   *Int // nil with Records
}

// SentRecord is one record that is sent: those of its parts that the case names.
type SentRecord struct {
	Key     *Text
	Headers []CaseHeader
	Value   *Node // null: a tombstone; nil: it is not named
	Pos     Pos   // the map
}

// sent is the entry of then that holds what is sent.
const sent = "sent"

var sentKeys = keys[SentRecord]{
	{name: "key", value: textValue(func(r *SentRecord) **Text { return &r.Key })},
	{name: "headers", value: value[SentRecord]{shape{entries: &scalarShape}, func(w *walker, e entry, r *SentRecord) (ok bool) {
		r.Headers, ok = caseHeaders(w, e)
		return ok
	}}},
	{name: "value", value: nodeValue(func(r *SentRecord) **Node { return &r.Value })},
}

// readSent reads what is sent, by event. An empty map says that nothing is.
func readSent(w *walker, e entry, c *Case) bool {
	c.Sent = &CaseSent{}
	ok := true
	for p := range w.pairs(e) {
		event := &SentEvent{Event: Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}}
		pe := entry{"what is sent of " + quote(p.Key), p.KeyPos, p.Value}
		var fine bool
		if p.Value.Kind == ScalarNode {
			event.Count, fine = w.integer(pe, 0, math.MaxInt32)
		} else {
			fine = sentRecords(w, pe, event)
		}
		ok = fine && ok
		c.Sent.Events = append(c.Sent.Events, event)
	}
	return ok
}

func sentRecords(w *walker, e entry, event *SentEvent) bool {
	if !w.isList(e) {
		return false
	}
	ok := true
	for _, item := range e.node.Items {
		ie := entry{what: "a record of " + quote(event.Event.Value), node: item}
		r := &SentRecord{Pos: item.Pos}
		ok = w.isMap(ie) && w.some(ie) && walkMap(w, ie, sentKeys, r) && ok
		event.Records = append(event.Records, r)
	}
	return ok
}
