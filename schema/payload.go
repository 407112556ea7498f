package schema

// Payload says how the values of a topic's records are written.
type Payload struct {
	Key    Pos
	Pos    Pos
	Naming *Text // snake_case, camelCase, PascalCase or kebab-case
	Root   *Path // where paths start
	Broken bool
}

var payloadKeys = keys[Payload]{
	{name: "naming", value: wordValue(func(p *Payload) **Text { return &p.Naming }, "snake_case", "camelCase", "PascalCase", "kebab-case")},
	{name: "root", value: pathOfMembers(func(p *Payload) **Path { return &p.Root })},
	{name: "format", meanwhile: "payloads are JSON; others can be read in the handler: {type: bytes, record: value} and handle: true"},
	{name: "encoding", meanwhile: "until then, read the whole value in the handler: {type: bytes, record: value} and handle: true"},
	{name: "unknown_members", meanwhile: "members that are not declared are ignored"},
	{name: "absent_marker", meanwhile: "until then, declare the field string, and look for the marker in the handler: handle: true"},
}

func readPayload(w *walker, e entry) (*Payload, bool) {
	p := &Payload{Key: e.key, Pos: e.node.Pos}
	p.Broken = !walkMap(w, e, payloadKeys, p)
	return p, true
}
