package syntax

import "strings"

// FieldType is the type of a field as written, without any look-up: Name may be a
// scalar of docs/encodings.md, an entry of types, or neither (E208, by resolve).
// Only list(T) and map(T) have an Elem; their Name is "list" or "map".
type FieldType struct {
	Text     string // as written, with "optional"
	Optional bool
	Name     string // "uuid", "list", "map", "Line"; a text that is no type ("string?") stands here whole
	NamePos  Pos
	Elem     *FieldType
	Pos      Pos // the whole text
}

// readFieldType reads the text of a field type. Words are not looked up.
func readFieldType(w *walker, e entry) (*FieldType, bool) {
	if !w.isScalar(e, "a type") {
		return nil, false
	}
	t := parseFieldType(e.node.Text, e.node.Pos, e.node.Quoted)
	if w.variable(e.node.Pos, e.node.Text) {
		return nil, false
	}
	return t, true
}

// parseFieldType takes a type apart: optional T, list(T), map(T), a word. What is none of them
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
	for _, of := range []string{"list", "map"} {
		if inner, ok := strings.CutPrefix(rest, of+"("); ok && strings.HasSuffix(inner, ")") {
			t.Name = of
			at := pos
			at.Col += len(of) + 1
			t.Elem = parseFieldType(strings.TrimSuffix(inner, ")"), at, false)
		}
	}
	t.NamePos = pos
	t.NamePos.Width = max(1, len([]rune(t.Name)))
	t.Pos.Width = max(1, len([]rune(text)))
	return t
}
