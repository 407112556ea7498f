package syntax

import "strings"

// Assigns is a map from column to value, in spec order.
type Assigns struct {
	Items  []Assign
	Key    Pos
	Pos    Pos
	Broken bool // a value of the map was refused and is missing in Items
}

// Assign gives one column a value.
type Assign struct {
	Column Text
	Value  Value
}

// Value is what a step puts into a column or compares with it.
type Value struct {
	Kind ValueKind
	Name string // FieldValue: the field; MemberValue and ResultValue: the member
	// Const is the constant of {value: c}; its Pos is that of c, Key that of "value".
	Const Text
	Pos   Pos // the whole value: the name, or the map {value: c}
}

// ValueKind tells what a Value is.
type ValueKind int

// The forms of a value.
const (
	FieldValue    ValueKind = iota + 1 // a bare name: "total"
	ElementValue                       // bare "each": the element of a list of scalars
	MemberValue                        // "each.sku"
	ResultValue                        // "result.sku"
	ConstantValue                      // {value: c}
	NowValue                           // {now: true}
	PositionValue                      // {each: position}
)

func assignsValue(at func(*Step) **Assigns) value[Step] {
	return put(assignsShape, at, func(w *walker, e entry) (*Assigns, bool) {
		a := &Assigns{Key: e.key, Pos: e.node.Pos}
		if !w.isMap(e) || !w.some(e) {
			a.Broken = true
			return a, true
		}
		for p := range w.pairs(e) {
			column := Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}
			v, ok := readValue(w, entry{"the value of " + quote(p.Key), p.KeyPos, p.Value})
			if !ok {
				a.Broken = true
				continue
			}
			a.Items = append(a.Items, Assign{column, v})
		}
		return a, true
	})
}

// valueMap is the map form of a value.
type valueMap struct {
	value, each *Text
	now         *Text
}

// readValue reads a field name, each.member, {value: c}, {now: true} or
// {each: position}.
func readValue(w *walker, e entry) (Value, bool) {
	v := Value{Pos: e.node.Pos}
	if e.node.Kind != MapNode {
		return readReference(w, e, v)
	}
	var m valueMap
	if !walkMap(w, e, valueKeys, &m) {
		return v, false
	}
	switch {
	case len(e.node.Pairs) != 1:
		w.ds.Add(v.Pos, "E110", e.what+" must be exactly one of {value: ...}, {now: true}, {each: position}", "keep one of them; write only the name of a field, without { }")
		return v, false
	case m.value != nil:
		v.Kind, v.Const = ConstantValue, *m.value
	case m.now != nil:
		v.Kind = NowValue
	default:
		v.Kind = PositionValue
	}
	return v, true
}

// readReference reads the name of a field or of a member of the element.
func readReference(w *walker, e entry, v Value) (Value, bool) {
	if e.node.Kind == ListNode || e.node.null() {
		hint := ""
		if e.node.null() {
			hint = "list the column under clear to set it to NULL"
		}
		return v, w.notThatKind(e, "a field name or {value: ...}", hint)
	}
	t, ok := w.full(e)
	if !ok {
		return v, false
	}
	member, isMember := strings.CutPrefix(t.Value, "each.")
	switch {
	case t.Value == "each":
		v.Kind = ElementValue
	case isMember:
		v.Kind, v.Name = MemberValue, member
	case strings.HasPrefix(t.Value, "result."):
		v.Kind, v.Name = ResultValue, strings.TrimPrefix(t.Value, "result.")
	default:
		v.Kind, v.Name = FieldValue, t.Value
	}
	return v, true
}
