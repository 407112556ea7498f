package syntax

// KeySource is one part of an idempotency key: exactly one of Field, Header and
// Offset.
type KeySource struct {
	Field  *Text
	Header *Text
	Offset bool // {record: offset}; only alone
	Pos    Pos
}

// Offset reports whether the source is {record: offset}.
func (k *IdempotencyKey) Offset() bool {
	return len(k.Source) == 1 && k.Source[0].Offset
}

// readSource reads what identifies an event.
func readSource(w *walker, e entry, k *IdempotencyKey) bool {
	k.SourceKey = e.key
	parts, ok := readKeySources(w, e)
	if ok {
		k.Source = parts
	}
	return ok
}

// readKeySources reads what source means: one part, or a list of parts.
func readKeySources(w *walker, e entry) ([]KeySource, bool) {
	if e.node.Kind != ListNode {
		part, ok := readKeySource(w, e)
		return []KeySource{part}, ok
	}
	if !w.some(e) {
		return nil, false
	}
	ok := true
	var parts []KeySource
	for _, item := range e.node.Items {
		part, fine := readKeySource(w, entry{what: "an item of source", node: item})
		if fine && part.Offset {
			fine = false
			w.ds.Add(part.Pos, "E110", "{record: offset} cannot be part of a list", "write source: {record: offset}, or leave it out of the list")
		}
		parts = append(parts, part)
		ok = ok && fine
	}
	return parts, ok
}

// keySourceMap is the map form of a part.
type keySourceMap struct {
	header, record *Text
}

func readKeySource(w *walker, e entry) (KeySource, bool) {
	src := KeySource{Pos: e.node.Pos}
	if e.node.Kind != MapNode {
		t, ok := w.full(entry{e.what, e.key, e.node})
		src.Field = t
		return src, ok
	}
	if field := e.node.Get("field"); field != nil && field.Kind == ScalarNode && len(e.node.Pairs) == 1 {
		hint := "write only the name of the field: " + short(field.Text)
		if e.what == "source" {
			hint = "write only the name of the field: source: " + short(field.Text)
		}
		w.ds.Add(firstKey(e), "E104", "unknown key \"field\" in "+e.what, hint)
		return src, false
	}
	var m keySourceMap
	if !walkMap(w, e, sourceKeys, &m) {
		return src, false
	}
	if len(e.node.Pairs) != 1 {
		w.ds.Add(firstKey(e), "E110", e.what+" must have exactly one of header and record", "several headers or fields go into a list: [{header: a}, b]")
		return src, false
	}
	src.Header, src.Offset = m.header, m.record != nil
	return src, true
}
