package syntax

import (
	"reflect"
	"testing"
)

// Whichever value of a spec is another one: what the innermost part around it became is marked as
// broken, or holds what is, if and only if the value is refused.
func TestAPartIsBrokenIfAValueInItIsRefused(t *testing.T) {
	root, ds := Parse([]byte(full))
	if root == nil {
		t.Fatal(ds.Sorted())
	}
	others := map[string]Node{
		"null": {Kind: ScalarNode, Text: "~"}, "a word": {Kind: ScalarNode, Text: "x"}, "blank": {Kind: ScalarNode, Quoted: true, Text: " "},
		"negative": {Kind: ScalarNode, Text: "-1"}, "a variable": {Kind: ScalarNode, Text: "${x}"}, "a capital": {Kind: ScalarNode, Text: "X"},
		"an empty list": {Kind: ListNode}, "an empty map": {Kind: MapNode},
		"a list of nulls":     {Kind: ListNode, Items: []*Node{{Kind: ScalarNode, Text: "~"}}},
		"a list of words":     {Kind: ListNode, Items: []*Node{{Kind: ScalarNode, Text: "x"}, {Kind: ScalarNode, Text: "y"}}},
		"a list of lists":     {Kind: ListNode, Items: []*Node{{Kind: ListNode}, {Kind: ListNode, Items: []*Node{{Kind: ScalarNode, Text: "x"}}}}},
		"a list of maps":      {Kind: ListNode, Items: []*Node{{Kind: MapNode}, {Kind: MapNode, Pairs: []Pair{{Key: "x", Value: &Node{Kind: ScalarNode, Text: "y"}}}}}},
		"a map of words":      {Kind: MapNode, Pairs: []Pair{{Key: "x", Value: &Node{Kind: ScalarNode, Text: "y"}}}},
		"a map with one null": {Kind: MapNode, Pairs: []Pair{{Key: "x", Value: &Node{Kind: ScalarNode, Text: "~"}}, {Key: "y", Value: &Node{Kind: ScalarNode, Text: "z"}}}},
	}
	refused, accepted := 0, 0
	try := func(around []*Node, place, name string) {
		s, problems := &Spec{}, Diagnostics{}
		s.Broken = !walkMap(&walker{ds: &problems}, entry{what: "the spec", node: root}, specKeys, s)
		broken := map[Pos]bool{}
		broken[root.Pos] = markBroken(reflect.ValueOf(*s), broken)
		innermost := len(around) - 1
		for _, is := broken[around[innermost].Pos]; !is; _, is = broken[around[innermost].Pos] {
			innermost--
		}
		is := problems.Errors() > 0 || place == ".topics.orders.v1.record_key" && name == "a word" // told with the types
		if broken[around[innermost].Pos] != is || broken[root.Pos] != is {
			t.Errorf("%s is %s: broken: %v on line %d, %v as a whole; %v", place, name, broken[around[innermost].Pos], around[innermost].Pos.Line,
				broken[root.Pos], problems.Sorted())
		}
		if is {
			refused++
		} else {
			accepted++
		}
	}
	var each func(n *Node, place string, around []*Node)
	each = func(n *Node, place string, around []*Node) {
		around = append(around[:len(around):len(around)], n)
		was := *n
		for name, other := range others {
			*n = other
			n.Pos = was.Pos
			try(around, place, name)
		}
		*n = was
		for i, p := range n.Pairs {
			each(p.Value, place+"."+p.Key, around)
			n.Pairs[i].Key = "Not a key!"
			try(append(around, p.Value), place+"."+p.Key, "of another key")
			n.Pairs[i].Key = p.Key
		}
		for _, item := range n.Items {
			each(item, place+".-", around)
		}
	}
	each(root, "", nil)
	if refused < 1000 || accepted < 100 {
		t.Errorf("%d values are refused, %d are not", refused, accepted)
	}
}

// markBroken notes the parts of a spec, by where they are, and whether each of them is broken. It
// reports that of v.
func markBroken(v reflect.Value, parts map[Pos]bool) (broken bool) {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && markBroken(v.Elem(), parts)
	case reflect.Slice:
		for i := range v.Len() {
			broken = markBroken(v.Index(i), parts) || broken
		}
	case reflect.Struct:
		for i := range v.NumField() {
			broken = markBroken(v.Field(i), parts) || broken
		}
		if f := v.FieldByName("Broken"); f.IsValid() {
			broken = broken || f.Bool()
			if at := v.FieldByName("Pos"); at.IsValid() {
				pos := Pos{int(at.Field(0).Int()), int(at.Field(1).Int()), int(at.Field(2).Int())}
				parts[pos] = parts[pos] || broken
			}
		}
	}
	return broken
}
