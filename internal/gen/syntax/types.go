package syntax

import "fmt"

// Type is an entry of types: it has Fields or Enum.
type Type struct {
	Name      Text // Pos is the key
	Doc       Doc
	Kind      TypeKind
	Fields    []*Field
	Enum      []Text
	Sensitive *Bool
	Pos       Pos // the value: the map after the name
	Body      Pos // the value of fields or enum
	Broken    bool
}

// TypeKind says what a types entry is.
type TypeKind int

// The kinds of a types entry. A broken entry may have no kind (0).
const (
	ObjectType TypeKind = iota + 1
	EnumType
)

var typeKeys = docKeys(func(t *Type) *Doc { return &t.Doc },
	key[Type]{name: "fields", value: value[Type]{fieldsShape, func(w *walker, e entry, t *Type) bool {
		t.Kind, t.Body = ObjectType, e.node.Pos
		return w.some(e) && readFields(w, e, objectField, &t.Fields)
	}}},
	key[Type]{name: "enum", value: value[Type]{shape{items: &scalarShape}, readEnum}},
	key[Type]{name: "is", stands: "fields", instead: "a type has fields or an enum: write the type that is meant at each field"},
	key[Type]{name: "unknown", instead: "leave it out: a text that the enum does not list is a decode error; where any may come, declare the field string"},
	key[Type]{name: "go", instead: "fields have the Go types of docs/spec.md: convert them in Go code, handle: true"},
	key[Type]{name: "codec", instead: "declare the field string, bytes or json, and read it in Go code, handle: true"},
	key[Type]{name: "sensitive", value: boolValue(func(t *Type) **Bool { return &t.Sensitive })},
)

func readTypes(w *walker, e entry, s *Spec) bool {
	return w.named(e, typeNames, func(name Text, valid bool, n *Node) {
		t := &Type{Name: name, Pos: n.Pos}
		s.Types = append(s.Types, t)
		te := entry{"type " + quote(name.Value), name.Pos, n}
		t.Broken = !walkMap(w, te, typeKeys, t) || !valid
		kinds := 0
		for _, k := range []string{"fields", "enum"} {
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

// readEnum reads a list of texts.
func readEnum(w *walker, e entry, t *Type) bool {
	t.Kind, t.Body = EnumType, e.node.Pos
	if e.node.Kind != ListNode {
		hint := "list the texts that are on the wire: enum: [small, large]"
		if e.node.Kind == ScalarNode && !e.node.null() {
			hint = "write [" + short(e.node.Text) + "]"
		}
		return w.notThatKind(e, "a list of texts", hint)
	}
	ok := true
	for _, item := range e.node.Items {
		wire, fine := w.text(entry{what: "an item of enum", node: item})
		if !fine {
			ok = false
			continue
		}
		t.Enum = append(t.Enum, *wire)
	}
	seen := map[string]bool{}
	bad := len(t.Enum) == 0 && ok
	for _, v := range t.Enum {
		bad = bad || v.Value == "" || seen[v.Value]
		seen[v.Value] = true
	}
	if bad {
		w.ds.Add(e.node.Pos, "E312", fmt.Sprintf("type %s: enum values must be distinct and not empty", quote(t.Name.Value)), "list every text that can be on the wire once")
	}
	return ok && !bad
}
