package schema

import "strings"

// FieldType is the type of a field as written, without any look-up: Name may be a
// scalar of docs/spec.md, an entry of types, or neither (E208, by resolve).
// Only list(T) has an Elem; its Name is "list".
type FieldType struct {
	Text     string // as written, with "optional"
	Optional bool
	Name     string // "uuid", "list", "Line"; a text that is no type ("string?") stands here whole
	NamePos  Pos
	Elem     *FieldType
	Pos      Pos // the whole text
}

var typeShape = put(scalarShape, func(f *Field) **FieldType { return &f.Type }, readFieldType)

// readFieldType reads the text of a field type. Words are not looked up.
func readFieldType(w *walker, e entry) (*FieldType, bool) {
	if !w.isScalar(e, "a type") {
		return nil, false
	}
	t := parseFieldType(e.node.Text, e.node.Pos, e.node.Quoted)
	for x := t; x != nil; x = x.Elem {
		if strings.HasPrefix(x.Name, "map(") && strings.HasSuffix(x.Name, ")") {
			w.unbuilt(x.Pos, "type "+quote(x.Name), `until then, "json", which a jsonb column takes`)
			return nil, false
		}
	}
	if w.variable(e.node.Pos, e.node.Text) {
		return nil, false
	}
	return t, true
}

// parseFieldType takes a type apart: optional T, list(T), a word. What is none of them
// becomes a word and is unknown to resolve.
func parseFieldType(text string, pos Pos, quoted bool) *FieldType {
	if quoted {
		pos.Col++ // inside the quotes
	}
	t := &FieldType{Text: text, Name: text, Pos: pos}
	skip := func(n int) {
		pos.Col += n
	}
	rest := text
	if word, ok := strings.CutPrefix(rest, "optional "); ok {
		t.Optional = true
		rest = strings.TrimLeft(word, " ")
		skip(len(text) - len(rest))
	}
	t.Name = rest
	if inner, ok := strings.CutPrefix(rest, "list("); ok && strings.HasSuffix(inner, ")") {
		t.Name = "list"
		inner = strings.TrimSuffix(inner, ")")
		at := pos
		at.Col += len("list(")
		t.Elem = parseFieldType(inner, at, false)
	}
	t.NamePos = pos
	t.NamePos.Width = max(1, len([]rune(t.Name)))
	t.Pos.Width = max(1, len([]rune(text)))
	return t
}
