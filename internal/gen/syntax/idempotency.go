package syntax

import (
	"fmt"
	"slices"
)

// IdempotencyKey is one idempotency_key map.
type IdempotencyKey struct {
	Key       Pos
	Pos       Pos
	SourceKey Pos         // the key "source"
	Source    []KeySource // at least one, unless Broken
	Window    *Duration   // nil for an offset key or if Broken
	Copies    *Text       // anywhere or same_partition
	Compare   *Compare
	Broken    bool
}

func idempotencyKeyValue[T any](at func(*T) **IdempotencyKey) value[T] {
	return put(idempotencyShape, at, readIdempotencyKey)
}

func readIdempotencyKey(w *walker, e entry) (*IdempotencyKey, bool) {
	k := &IdempotencyKey{Key: e.key, Pos: e.node.Pos}
	k.Broken = !walkMap(w, e, idempotencyKeys, k)
	if e.node.Kind != MapNode || k.Source == nil {
		return k, true
	}
	if k.Offset() {
		for _, p := range e.node.Pairs {
			if slices.Contains([]string{"window", "copies", "compare"}, p.Key) {
				k.Broken = true
				w.ds.Add(p.KeyPos, "E412", fmt.Sprintf("%q cannot be used with source: {record: offset}", p.Key), "the ledger recognizes redeliveries without stored keys")
			}
		}
		return k, true
	}
	if e.node.Get("window") == nil && !misspelt(e, idempotencyKeys, "window") {
		k.Broken = true
		w.ds.Add(firstKey(e), "E408", `idempotency_key lacks "window": how long duplicates must be recognized`,
			"for example window: 8d (7 days of topic retention plus one)")
	}
	return k, true
}

// readWindow reads how long a second copy of a key must still be recognized.
func readWindow(w *walker, e entry) (*Duration, bool) {
	before := len(w.ds.list)
	d, ok := w.duration(e, "1s", "3650d")
	if added := w.ds.list[before:]; !ok && len(added) == 1 && added[0].Code == "E708" {
		added[0].Hint = "choose the longest time after which a duplicate may arrive, for example 8d (7 days of topic retention plus one); to store no keys, write source: {record: offset}"
	}
	return d, ok
}

// Compare is what copies must share: one of Word and Fields.
type Compare struct {
	Word   *Text // declared or nothing
	Fields []Text
	Pos    Pos
}

// readCompare reads what copies must share: a word, or a list of fields.
func readCompare(w *walker, e entry) (*Compare, bool) {
	if e.node.Kind == ListNode {
		list, ok := w.texts(e, 1)
		if !ok {
			return nil, false
		}
		return &Compare{Fields: list.Items, Pos: list.Pos}, true
	}
	t, ok := w.word(e, []string{"declared", "nothing"})
	if !ok {
		return nil, false
	}
	return &Compare{Word: t, Pos: t.Pos}, true
}
