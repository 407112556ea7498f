package schema

import (
	"fmt"
	"slices"
)

var idempotencyKeys = keys[IdempotencyKey]{
	{name: "source", required: true, example: "for example source: {header: Idempotency-Key}", value: value[IdempotencyKey]{
		shape{scalar: true, items: &partShape, keys: sourceKeys.shapes()}, (*walker).source}},
	{name: "window", value: put(scalarShape, func(k *IdempotencyKey) **Duration { return &k.Window }, (*walker).window)},
	{name: "unique_per", value: wordValue(func(k *IdempotencyKey) **Text { return &k.UniquePer }, "event", "topic", "consumer")},
	{name: "copies", value: wordValue(func(k *IdempotencyKey) **Text { return &k.Copies }, "anywhere", "same_partition")},
	{name: "compare", value: put(shape{words: []string{"declared", "nothing"}, items: &scalarShape}, func(k *IdempotencyKey) **Compare { return &k.Compare }, (*walker).compare)},
	{name: "also", value: value[IdempotencyKey]{shape{items: &shape{scalar: true, items: &partShape, keys: partShape.keys}}, (*walker).also}},
	{name: "missing", value: wordValue(func(k *IdempotencyKey) **Text { return &k.Missing }, "dead_letter", "offset")},
	{name: "copies_keep_record_key", instead: "it is a promise for the whole topic: write assume: {ordered_by: record_key, copies_keep_record_key: true} there"},
}

// partShape is one part of a source that has several.
var partShape = shape{scalar: true, keys: sourceKeys[:1].shapes()}

func idempotencyKeyValue[T any](at func(*T) **IdempotencyKey) value[T] {
	return put(shape{keys: idempotencyKeys.shapes()}, at, (*walker).idempotencyKey)
}

func (w *walker) idempotencyKey(e entry) (*IdempotencyKey, bool) {
	k := &IdempotencyKey{Key: e.key, Pos: e.node.Pos}
	k.Broken = !walkMap(w, e, idempotencyKeys, k)
	if e.node.Kind != MapNode || k.Source == nil {
		return k, true
	}
	if k.Offset() {
		for _, p := range e.node.Pairs {
			if slices.Contains([]string{"window", "unique_per", "copies", "compare", "also", "missing"}, p.Key) {
				k.Broken = true
				w.ds.Add(p.KeyPos, "E412", fmt.Sprintf("%q has no meaning for source: {record: offset}", p.Key), "redelivery is covered by the ledger without stored keys")
			}
		}
		return k, true
	}
	byHeader := func(s KeySource) bool { return s.Header != nil }
	if k.Missing != nil && k.Missing.Value == "offset" && !slices.ContainsFunc(k.Source, byHeader) {
		k.Broken = true
		w.ds.Add(k.Missing.Key, "E412", `"missing" has no meaning for a source without a header`, "a record that lacks a field of source does not decode: it is a dead letter anyway")
	}
	if e.node.Get("window") == nil && !misspelt(e, idempotencyKeys, "window") {
		k.Broken = true
		w.ds.Add(firstKey(e), "E408", `idempotency_key lacks "window": how long a second copy of a key must still be recognised`,
			"for example window: 8d (7 days of topic retention plus one)")
	}
	return k, true
}

// window reads how long a second copy of a key must still be recognised.
func (w *walker) window(e entry) (*Duration, bool) {
	before := len(w.ds.list)
	d, ok := w.duration(e, "1s", "3650d")
	if added := w.ds.list[before:]; !ok && len(added) == 1 && added[0].Code == "E708" {
		added[0].Hint = "as long as a copy may come later, for example 8d (7 days of topic retention plus one); for no stored keys at all write source: {record: offset}"
	}
	return d, ok
}

// compare reads what copies must share: a word, or a list of fields.
func (w *walker) compare(e entry) (*Compare, bool) {
	if e.node.Kind == ListNode {
		list, ok := w.texts(e, 1)
		if !ok {
			return nil, false
		}
		return &Compare{Fields: list.Items, Pos: list.Pos}, true
	}
	t, ok := w.word(e, []string{"declared", "nothing"}, nil, "")
	if !ok {
		return nil, false
	}
	return &Compare{Word: t, Pos: t.Pos}, true
}

// source reads what identifies an event.
func (w *walker) source(e entry, k *IdempotencyKey) bool {
	k.SourceKey = e.key
	parts, ok := w.keySources(e)
	if ok {
		k.Source = parts
	}
	return ok
}

// also reads former sources: a list, each item of which is written like source.
func (w *walker) also(e entry, k *IdempotencyKey) bool {
	if e.node.Kind != ListNode {
		return w.notThatKind(e, "a list", "every former source is one item: also: [{header: a}, b, [c, d]]")
	}
	if !w.some(e) {
		return false
	}
	ok := true
	for _, item := range e.node.Items {
		parts, fine := w.keySources(entry{what: "an item of also", node: item})
		if fine && len(parts) == 1 && parts[0].Offset {
			fine = false
			w.ds.Add(item.Pos, "E412", "{record: offset} stored nothing that could be recognised", "leave it out: a key of the producer's is stored from the first record after the change")
		}
		if ok = ok && fine; fine {
			k.Also = append(k.Also, FormerSource{parts, item.Pos})
		}
	}
	return ok
}

// keySources reads what source means: one part, or a list of parts.
func (w *walker) keySources(e entry) ([]KeySource, bool) {
	if e.node.Kind != ListNode {
		part, ok := w.keySource(e)
		return []KeySource{part}, ok
	}
	if !w.some(e) {
		return nil, false
	}
	ok := true
	var parts []KeySource
	for _, item := range e.node.Items {
		part, fine := w.keySource(entry{what: "an item of source", node: item})
		if fine && part.Offset {
			fine = false
			w.ds.Add(part.Pos, "E110", "{record: offset} is a source of its own and no part of one", "write source: {record: offset}, or leave it out of the list")
		}
		parts = append(parts, part)
		ok = ok && fine
	}
	return parts, ok
}

var sourceKeys = keys[keySourceMap]{
	{name: "header", value: textValue(func(s *keySourceMap) **Text { return &s.header })},
	{name: "record", value: wordValue(func(s *keySourceMap) **Text { return &s.record }, "offset")},
	{name: "ce", meanwhile: binaryMode},
}

// keySourceMap is the map form of a part.
type keySourceMap struct{ header, record *Text }

func (w *walker) keySource(e entry) (KeySource, bool) {
	src := KeySource{Pos: e.node.Pos}
	if e.node.Kind != MapNode {
		t, ok := w.full(entry{e.what, e.key, e.node})
		src.Field = t
		return src, ok
	}
	if field := e.node.Get("field"); field != nil && field.Kind == ScalarNode && len(e.node.Pairs) == 1 {
		hint := "a field is named plainly: " + short(field.Text)
		if e.what == "source" {
			hint = "a field is named plainly: source: " + short(field.Text)
		}
		w.ds.Add(firstKey(e), "E104", "unknown key \"field\" in "+e.what, hint)
		return src, false
	}
	var m keySourceMap
	if !walkMap(w, e, sourceKeys, &m) {
		return src, false
	}
	if (m.header == nil) == (m.record == nil) {
		w.ds.Add(firstKey(e), "E110", e.what+" must have exactly one of header, record", "several headers or fields go into a list: [{header: a}, b]")
		return src, false
	}
	src.Header, src.Offset = m.header, m.record != nil
	return src, true
}
