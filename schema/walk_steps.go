package schema

import (
	"slices"
	"strconv"
	"strings"
)

// stepShapes are the keys of all verbs together.
func stepShapes() []keyShape {
	var out []keyShape
	for _, t := range stepTables {
		for _, s := range t.keys.shapes() {
			if !slices.ContainsFunc(out, func(o keyShape) bool { return o.name == s.name }) {
				out = append(out, s)
			}
		}
	}
	return out
}

func (w *walker) verb(e entry, s *Step) bool {
	t, ok := w.full(e)
	s.Verb = Text{Value: e.what, Key: e.key, Pos: e.key}
	if ok {
		s.Table = *t
	}
	return ok
}

// step reads one entry of write: the verb decides which keys it may have.
func (w *walker) step(n *Node) *Step {
	s := &Step{Pos: n.Pos, Broken: true}
	e := entry{what: "step", node: n}
	if n.Kind != MapNode {
		w.wrongKind(entry{what: "a step", node: n}, "a map with a verb")
		return s
	}
	var verbs []Pair
	for _, p := range n.Pairs {
		later, unbuilt := unbuiltVerbs.find(p.Key)
		switch {
		case unbuilt:
			w.unbuiltKey(p.KeyPos, p.Key, later.meanwhile)
			return s
		case w.keysOf(p.Key) != nil && !slices.ContainsFunc(verbs, func(v Pair) bool { return v.Key == p.Key }):
			verbs = append(verbs, p)
		}
	}
	switch len(verbs) {
	case 0:
		w.noVerb(e)
	case 1:
		e.what = verbs[0].Key + " step"
		s.Broken = !walkMap(w, e, w.keysOf(verbs[0].Key), s)
	default:
		var names []string
		for _, v := range verbs {
			names = append(names, v.Key)
		}
		w.ds.Add(verbs[1].KeyPos, "E110", "a step has exactly one verb, here are "+count(len(names))+": "+strings.Join(names, " and "), "make it "+count(len(names))+" steps")
	}
	return s
}

func count(n int) string {
	words := []string{"no", "one", "two", "three", "four"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

func (w *walker) keysOf(verb string) keys[Step] {
	for _, t := range stepTables {
		if t.verb == verb {
			return t.keys
		}
	}
	return nil
}

// noVerb reports a step without a verb, or the word that stands where the verb should.
func (w *walker) noVerb(e entry) {
	verbs := strings.Join(verbNames(), ", ")
	for _, p := range e.node.Pairs {
		if _, known := allStepKeys.find(p.Key); known {
			continue
		}
		if isEnvironment(p.Key) {
			w.environment(p)
			return
		}
		hint := DidYouMean(p.Key, verbNames())
		if hint == "" {
			hint = "verbs: " + verbs
		}
		w.ds.Add(p.KeyPos, "E104", "unknown verb "+quote(p.Key)+" in step", hint)
		return
	}
	w.ds.Add(firstKey(e), "E110", "a step has exactly one verb, here is none", "write one of "+verbs+" with the name of a table")
}

func assignsValue(at func(*Step) **Assigns) value[Step] {
	s := shape{entries: &shape{scalar: true, keys: valueKeys.shapes()}}
	return put(s, at, func(w *walker, e entry) (*Assigns, bool) {
		a := &Assigns{Key: e.key, Pos: e.node.Pos}
		if !w.isMap(e) || !w.some(e) {
			a.Broken = true
			return a, true
		}
		for p := range w.pairs(e) {
			column := Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}
			v, ok := w.stepValue(entry{"the value of " + quote(p.Key), p.KeyPos, p.Value})
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

var valueKeys = keys[valueMap]{
	{name: "value", value: put(scalarShape, func(v *valueMap) **Text { return &v.value }, (*walker).constant)},
	{name: "add", instead: noArithmetic}, {name: "plus", instead: noArithmetic}, {name: "minus", instead: noArithmetic},
	{name: "now", value: wordValue(func(v *valueMap) **Text { return &v.now }, "true")},
	{name: "each", value: wordValue(func(v *valueMap) **Text { return &v.each }, "position")},
}

// stepValue reads a field name, each.member, {value: c}, {now: true} or
// {each: position}.
func (w *walker) stepValue(e entry) (Value, bool) {
	v := Value{Pos: e.node.Pos}
	if e.node.Kind != MapNode {
		return w.reference(e, v)
	}
	var m valueMap
	if !walkMap(w, e, valueKeys, &m) {
		return v, false
	}
	switch {
	case len(e.node.Pairs) != 1:
		w.ds.Add(v.Pos, "E110", e.what+" must be exactly one of {value: ...}, {now: true}, {each: position}", "keep one of them; a field is named as it is, without { }")
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

// reference reads the name of a field or of a member of the element.
func (w *walker) reference(e entry, v Value) (Value, bool) {
	if e.node.Kind == ListNode || e.node.Null() {
		hint := ""
		if e.node.Null() {
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
		w.unbuilt(v.Pos, "a value from result", inGo)
		return v, false
	default:
		v.Kind, v.Name = FieldValue, t.Value
	}
	return v, true
}
