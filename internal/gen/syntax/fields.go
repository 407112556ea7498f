package syntax

import "fmt"

// Field is a field of an event, a topic or an object type. At most one of Path, Header and Record
// is set.
type Field struct {
	Name      Text       // Pos is the key
	Doc       Doc        //
	Type      *FieldType // nil only if Broken
	Path      *Path
	Header    *Text
	Encoding  *Text // of the header: plain or binary
	Record    *Text // key, value, timestamp, offset, partition or topic
	Default   *Text // constant, not checked against the type
	Patch     *Bool
	Sensitive *Bool
	Pos       Pos // the value: the type text, or the map
	Broken    bool
}

// fieldPlace says where a field is declared: sources from the record make no sense
// for the members of an object.
type fieldPlace int

const (
	eventField fieldPlace = iota
	objectField
)

// readFields reads a map of fields.
func readFields(w *walker, e entry, place fieldPlace, into *[]*Field) bool {
	return w.named(e, fieldNames, func(name Text, valid bool, n *Node) {
		f := &Field{Name: name, Pos: n.Pos}
		*into = append(*into, f)
		fe := entry{"field " + quote(name.Value), name.Pos, n}
		if n.Kind == ScalarNode {
			t, ok := readFieldType(w, fe)
			f.Type, f.Broken = t, !ok || !valid
			return
		}
		if n.Kind == ListNode {
			f.Broken = true
			w.notThatKind(fe, "a type, or a map with a type", listHint(n))
			return
		}
		f.Broken = !walkMap(w, fe, fieldKeys, f) || !valid
		checkFieldSources(w, fe, place, f)
		if f.Encoding != nil && f.Header == nil {
			f.Broken = true
			w.ds.Add(f.Encoding.Key, "E110", fe.what+" has an encoding, but is not read from a header", "the encoding of a value belongs in payload, and that of a record key in record_key_format")
		}
		if f.Default != nil && f.Type != nil && f.Type.Optional {
			f.Broken = true
			w.ds.Add(f.Default.Key, "E305", fe.what+" is optional and has a default", `remove "optional"`)
		}
	})
}

// listHint is for people who write a list of T as [T].
func listHint(n *Node) string {
	if len(n.Items) != 1 || n.Items[0].Kind != ScalarNode || n.Items[0].null() {
		return ""
	}
	return "write list(" + short(n.Items[0].Text) + ")"
}

// checkFieldSources checks that a field comes from one place.
func checkFieldSources(w *walker, e entry, place fieldPlace, f *Field) {
	var first string
	for _, p := range e.node.Pairs {
		switch p.Key {
		case "path", "header", "record":
		default:
			continue
		}
		switch {
		case place == objectField && p.Key != "path":
			f.Broken = true
			w.ds.Add(p.KeyPos, "E306", fmt.Sprintf("%s is a member of an object and cannot be read from %q", e.what, p.Key), "declare it as a field of the event")
		case first != "" && first != p.Key:
			f.Broken = true
			w.ds.Add(p.KeyPos, "E110", fmt.Sprintf("%s has two sources: %s and %s", e.what, first, p.Key), "keep one of them")
		}
		first = p.Key
	}
}

// readConstant reads a text that stands for a value of a type that is known later.
func readConstant(w *walker, e entry) (*Text, bool) {
	n := e.node
	if n.Kind == ScalarNode && n.null() && e.what == "value" {
		pos := n.Pos
		if n.Text == "" {
			pos = e.key
		}
		w.ds.Add(pos, "E106", "value must be a constant, not null", `list the column under "clear" to set it to NULL; put it in quotes if you mean the text`)
		return nil, false
	}
	if !w.isScalar(e, "a constant") {
		return nil, false
	}
	return &Text{Value: n.Text, Quoted: n.Quoted, Key: e.key, Pos: n.Pos}, true
}
