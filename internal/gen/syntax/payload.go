package syntax

import "slices"

// Payload says how the values of a topic's records are written.
type Payload struct {
	Key    Pos
	Pos    Pos
	Naming *Text // snake_case or camelCase
	Root   *Path // where paths start
	Marker *Text // absent_marker
	Packing
	Broken bool
}

// readNaming reads a naming, and says what to write where members are spelled by another one.
func readNaming(w *walker, e entry) (*Text, bool) {
	if n := e.node; n.Kind == ScalarNode && slices.Contains([]string{"PascalCase", "kebab-case"}, n.Text) {
		w.ds.Add(n.Pos, "E111", e.what+" cannot be "+quote(n.Text), "write the path of each field: order_id: {type: uuid, path: OrderId}")
		return nil, false
	}
	return w.word(e, payloadNamings)
}

// readMarker reads a text that means that a value is not there. A number might be meant as one.
func readMarker(w *walker, e entry) (*Text, bool) {
	t, ok := w.full(e)
	if ok && (t.Value[0] == '-' || t.Value[0] >= '0' && t.Value[0] <= '9') {
		w.ds.Add(t.Pos, "E108", e.what+" begins like a number: "+quote(t.Value), "choose a string that cannot be a value")
		return nil, false
	}
	return t, ok
}

func readPayload(w *walker, e entry) (*Payload, bool) {
	p := &Payload{Key: e.key, Pos: e.node.Pos}
	p.Broken = !walkMap(w, e, payloadKeys, p)
	p.Broken = p.Broken || !p.checkSchema(w, "payload")
	return p, true
}
