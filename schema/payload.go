package schema

// Payload says how the values of a topic's records are written.
type Payload struct {
	Key    Pos
	Pos    Pos
	Naming *Text // snake_case, camelCase, PascalCase or kebab-case
	Root   *Path // where paths start
	Marker *Text // absent_marker
	Broken bool
}

var payloadKeys = keys[Payload]{
	{name: "naming", value: wordValue(func(p *Payload) **Text { return &p.Naming }, "snake_case", "camelCase", "PascalCase", "kebab-case")},
	{name: "root", value: pathOfMembers(func(p *Payload) **Path { return &p.Root })},
	{name: "absent_marker", value: put(scalarShape, func(p *Payload) **Text { return &p.Marker }, readMarker)},
	{name: "format", meanwhile: "payloads are JSON; others can be read in the handler: {type: bytes, record: value} and handle: true"},
	{name: "encoding", meanwhile: "until then, read the whole value in the handler: {type: bytes, record: value} and handle: true"},
	{name: "unknown_members", meanwhile: "members that are not declared are ignored"},
}

// readMarker reads a text that means that a value is not there. A number might be meant as one.
func readMarker(w *walker, e entry) (*Text, bool) {
	t, ok := w.full(e)
	if ok && (t.Value[0] == '-' || t.Value[0] >= '0' && t.Value[0] <= '9') {
		w.ds.Add(t.Pos, "E108", e.what+" begins like a number: "+quote(t.Value), "a marker is a text that no value can be")
		return nil, false
	}
	return t, ok
}

func readPayload(w *walker, e entry) (*Payload, bool) {
	p := &Payload{Key: e.key, Pos: e.node.Pos}
	p.Broken = !walkMap(w, e, payloadKeys, p)
	return p, true
}
