package syntax

import (
	"reflect"
	"strings"
	"testing"
)

// Whichever value of a spec is another one: what the innermost part around it became is marked as
// broken, or holds what is, if and only if the value is refused. No part around it is missing.
func TestAPartIsBrokenIfAValueInItIsRefused(t *testing.T) {
	refused, accepted := 0, 0
	for _, spec := range []string{full, rest} {
		r, a := breakEach(t, spec)
		refused, accepted = refused+r, accepted+a
	}
	if refused < 1000 || accepted < 100 {
		t.Errorf("%d values are refused, %d are not", refused, accepted)
	}
}

// rest has keys that full has not.
const rest = `version: 1
consumer: c
package: p
types: {Line: {sensitive: true, fields: {a: string}}}
tables:
  rows:
    schema: s
    name: stored
    external: true
    primary_key: [id]
    columns: {id: {type: text, name: key}, n: {type: bigint, filled_by: database}}
topics:
  t:
    name: [a, b]
    record_key: {id: string}
    record_key_format: {encoding: confluent_avro, schema: a.avsc}
    payload: {naming: camelCase, root: data, absent_marker: none, encoding: confluent_protobuf, schema: a.proto#B}
    event_type: [{header: type}, {path: version}]
    ignore: [noted]
    start_from: latest
    idempotency_key: {source: {header: k}, window: 8d, copies: anywhere, compare: [a]}
    events:
      A:
        type: a
        root: inner
        fields: {n: {type: int64, header: n, encoding: binary, sensitive: true}, p: {type: int64, patch: true}, d: {type: int64, default: 1}}
        effect: {if_interrupted: retry, timeout: 5s, result: Line, lock: {l: a}}
        write:
          - {add: rows, plus: {n: p}, minus: {m: p}, where: {id: id}, leave: [x], if_missing: insert}
          - {upsert: rows, keep: [n]}
      B: {type: b, idempotency_key: {source: {record: offset}}, handle: true}
    on_failure: {give_up: stop}
  u: {name: c, events: {C: {handle: true}}, idempotency_key: {source: id, window: 1d, compare: nothing}}
`

// others are values that may stand where another one is meant.
var others = map[string]Node{
	"null": {Kind: ScalarNode, Text: "~"}, "a word": {Kind: ScalarNode, Text: "x"}, "blank": {Kind: ScalarNode, Quoted: true, Text: " "},
	"a variable": {Kind: ScalarNode, Text: "${x}"}, "a capital": {Kind: ScalarNode, Text: "PascalCase"},
	"an empty list": {Kind: ListNode}, "an empty map": {Kind: MapNode},
	"a list of nulls":     {Kind: ListNode, Items: []*Node{{Kind: ScalarNode, Text: "~"}}},
	"a list of words":     {Kind: ListNode, Items: []*Node{{Kind: ScalarNode, Text: "x"}, {Kind: ScalarNode, Text: "y"}}},
	"a list of lists":     {Kind: ListNode, Items: []*Node{{Kind: ListNode}, {Kind: ListNode, Items: []*Node{{Kind: ScalarNode, Text: "x"}}}}},
	"a map with one null": {Kind: MapNode, Pairs: []Pair{{Key: "x", Value: &Node{Kind: ScalarNode, Text: "~"}}, {Key: "y", Value: &Node{Kind: ScalarNode, Text: "z"}}}},
}

// breakEach puts each other value in the place of each value of a spec.
func breakEach(t *testing.T, spec string) (refused, accepted int) {
	root, ds := Parse([]byte(spec))
	if root == nil {
		t.Fatal(ds.Sorted())
	}
	read := func() (*Spec, Diagnostics, map[Pos]bool) {
		s, problems := &Spec{}, Diagnostics{}
		s.Broken = !walkMap(&walker{ds: &problems}, entry{what: "the spec", node: root}, specKeys, s)
		broken := map[Pos]bool{}
		broken[root.Pos] = markBroken(reflect.ValueOf(*s), broken)
		return s, problems, broken
	}
	_, none, parts := read()
	if parts[root.Pos] {
		t.Fatal(none.Sorted())
	}
	try := func(around []*Node, place, name string) {
		_, problems, broken := read()
		for _, n := range around[:len(around)-1] {
			_, was := parts[n.Pos]
			if _, is := broken[n.Pos]; was != is {
				t.Errorf("%s is %s: the part on line %d is there: %v", place, name, n.Pos.Line, is)
			}
		}
		innermost := len(around) - 1
		for _, is := broken[around[innermost].Pos]; !is; _, is = broken[around[innermost].Pos] {
			innermost--
		}
		is := problems.Errors() > 0 || strings.HasSuffix(place, ".record_key") && name == "a word" // told with the types
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
	return refused, accepted
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
