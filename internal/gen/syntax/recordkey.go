package syntax

import "fmt"

// RecordKey is what the Kafka record key holds: one part without Path, or parts that
// all have one.
type RecordKey struct {
	Key    Pos
	Pos    Pos
	Parts  []*KeyPart
	Alone  *Text // a name in the place of the map; the reader of types says what to write
	Broken bool
}

// KeyPart is one part of a record key.
type KeyPart struct {
	Name   Text // Pos is the key
	Doc    Doc
	Type   *FieldType // nil only if Broken
	Path   *Path
	Pos    Pos
	Broken bool
}

func readRecordKey(w *walker, e entry) (*RecordKey, bool) {
	r := &RecordKey{Key: e.key, Pos: e.node.Pos}
	if e.node.Kind == ScalarNode && snakePattern.MatchString(e.node.Text) && !e.node.null() {
		r.Broken = true
		r.Alone = &Text{Value: e.node.Text, Key: e.key, Pos: e.node.Pos}
		return r, true
	}
	if !w.isMap(e) || !w.some(e) {
		r.Broken = true
		return r, true
	}
	w.named(e, keyPartNames, func(name Text, valid bool, n *Node) {
		p := &KeyPart{Name: name, Pos: n.Pos}
		r.Parts = append(r.Parts, p)
		pe := entry{"record key part " + quote(name.Value), name.Pos, n}
		switch n.Kind {
		case ScalarNode:
			t, ok := readFieldType(w, pe)
			p.Type, p.Broken = t, !ok || !valid
		case ListNode:
			p.Broken = true
			w.wrongKind(pe, "a type, or a map with a type")
		default:
			p.Broken = !walkMap(w, pe, keyPartKeys, p) || !valid
		}
	})
	for _, p := range r.Parts {
		if len(r.Parts) > 1 && p.Path == nil && !p.Broken {
			p.Broken = true
			w.ds.Add(p.Name.Pos, "E313", fmt.Sprintf("record key part %s has no path, but the key has %d parts", quote(p.Name.Value), len(r.Parts)),
				"write "+p.Name.Value+": {type: ..., path: ...} for every part, because the key is then a JSON object")
		}
	}
	return r, true
}
