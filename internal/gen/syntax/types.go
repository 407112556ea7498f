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
			w.ds.Add(name.Pos, "E110", te.what+" must have exactly one of fields and enum", "write fields: {sku: string} for an object, enum: [small, large] for one of several texts")
		}
	})
}

// readEnum reads a list of texts.
func readEnum(w *walker, e entry, t *Type) bool {
	t.Kind, t.Body = EnumType, e.node.Pos
	if e.node.Kind != ListNode {
		hint := "list the values that the producer writes: enum: [small, large]"
		if e.node.Kind == ScalarNode && !e.node.null() {
			hint = "write [" + short(e.node.Text) + "]"
		}
		return w.notThatKind(e, "a list of strings", hint)
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
		w.ds.Add(e.node.Pos, "E312", fmt.Sprintf("type %s: enum values must be distinct and not empty", quote(t.Name.Value)), "list each value that the producer writes once")
	}
	return ok && !bad
}
