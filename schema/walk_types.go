package schema

import (
	"fmt"
	"slices"
	"strings"
)

var typeKeys = docKeys(func(t *Type) *Doc { return &t.Doc },
	key[Type]{name: "fields", value: value[Type]{fieldsShape, func(w *walker, e entry, t *Type) bool {
		t.Kind, t.Body = ObjectType, e.node.Pos
		return w.some(e) && w.fields(e, objectField, &t.Fields)
	}}},
	key[Type]{name: "enum", value: value[Type]{shape{items: &scalarShape, entries: &scalarShape}, (*walker).enum}},
	key[Type]{name: "is", meanwhile: "until then, write the type itself at each field"},
	key[Type]{name: "unknown", meanwhile: "until then, declare the field string, which takes any text"},
	key[Type]{name: "go", meanwhile: "until then, convert in the handler: handle: true"},
	key[Type]{name: "codec", meanwhile: "until then, declare the field string or bytes, and convert in the handler: handle: true"},
	key[Type]{name: "sensitive", meanwhile: notLogged},
)

func (w *walker) types(e entry, s *Spec) bool {
	return w.named(e, typeNames, func(name Text, valid bool, n *Node) {
		t := &Type{Name: name, Pos: n.Pos}
		s.Types = append(s.Types, t)
		te := entry{"type " + quote(name.Value), name.Pos, n}
		t.Broken = !walkMap(w, te, typeKeys, t) || !valid
		kinds := 0
		for _, k := range []string{"fields", "enum", "is"} {
			if n.Get(k) != nil {
				kinds++
			}
		}
		if kinds > 1 || kinds == 0 && !t.Broken {
			t.Broken = true
			w.ds.Add(name.Pos, "E110", te.what+" must have exactly one of fields, enum", "write fields: {sku: string} for an object, enum: [small, large] for one of several texts")
		}
	})
}

// enum reads a list of texts or a map from constant to text.
func (w *walker) enum(e entry, t *Type) bool {
	t.Kind, t.Body = EnumType, e.node.Pos
	ok := true
	if e.node.Kind == MapNode {
		ok = w.named(e, constantNames, func(name Text, valid bool, n *Node) {
			wire, fine := w.text(entry{quote(name.Value), name.Pos, n})
			if !valid || !fine {
				ok = false
				return
			}
			t.Enum = append(t.Enum, EnumValue{name, *wire})
		}) && ok
	} else {
		if e.node.Kind != ListNode {
			hint := ""
			if e.node.Kind == ScalarNode && !e.node.Null() {
				hint = "write [" + short(e.node.Text) + "]"
			}
			return w.notThatKind(e, "a list of texts, or a map from constant to text", hint)
		}
		for _, item := range e.node.Items {
			wire, fine := w.text(entry{what: "an item of enum", node: item})
			if !fine {
				ok = false
				continue
			}
			t.Enum = append(t.Enum, EnumValue{*wire, *wire})
		}
	}
	seen := map[string]bool{}
	bad := len(t.Enum) == 0 && ok
	for _, v := range t.Enum {
		bad = bad || v.Wire.Value == "" || seen[v.Wire.Value]
		seen[v.Wire.Value] = true
	}
	if bad {
		w.ds.Add(e.node.Pos, "E312", fmt.Sprintf("type %s: enum values must be distinct and not empty", quote(t.Name.Value)), "list every text that can be on the wire once")
	}
	return ok && !bad
}

// fieldType reads the text of a field type. Words are not looked up.
func (w *walker) fieldType(e entry) (*FieldType, bool) {
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

// path reads "a.b", "$.a.b", "$" or a list of member names.
func (w *walker) path(e entry) (*Path, bool) {
	p := &Path{Key: e.key, Pos: e.node.Pos}
	if e.node.Kind == ListNode {
		list, ok := w.texts(e, 1)
		if !ok {
			return nil, false
		}
		var quoted []string
		for _, t := range list.Items {
			p.Members = append(p.Members, t.Value)
			quoted = append(quoted, quote(t.Value))
		}
		p.Text = "[" + strings.Join(quoted, ", ") + "]"
		return p, true
	}
	n, ok := w.scalar(e, "a path", `write member names with dots between them: a.b; a name that has a dot itself goes into a list: [a, "b.c"]`,
		func(s string) bool {
			inner := strings.TrimPrefix(strings.TrimPrefix(s, "$"), ".")
			return s == "$" || inner != "" && !strings.HasPrefix(s, ".") && !strings.Contains(s, "${") &&
				(s[0] != '$' || strings.HasPrefix(s, "$.")) && !slices.Contains(strings.Split(inner, "."), "")
		})
	if !ok {
		return nil, false
	}
	p.Text = n.Text
	p.Whole = strings.HasPrefix(n.Text, "$")
	if inner := strings.TrimPrefix(strings.TrimPrefix(n.Text, "$"), "."); inner != "" {
		p.Members = strings.Split(inner, ".")
	}
	return p, true
}

func pathOfMembers[T any](at func(*T) **Path) value[T] {
	return put(shape{scalar: true, items: &scalarShape}, at, (*walker).path)
}
