package syntax

import (
	"slices"
	"strconv"
	"strings"
)

// Texts is a list of texts in spec order.
type Texts struct {
	Items []Text
	Key   Pos
	Pos   Pos // the whole list
}

// The constructors below are the values of tables of keys.

func textValue[T any](at func(*T) **Text) value[T] {
	return put(textShape, at, (*walker).full)
}

func wordValue[T any](at func(*T) **Text, set ...string) value[T] {
	return put(Shape{Words: set}, at, func(w *walker, e entry) (*Text, bool) { return w.word(e, set) })
}

func boolValue[T any](at func(*T) **Bool) value[T] {
	return put(boolShape, at, (*walker).boolean)
}

func intValue[T any](at func(*T) **Int, low, high int64) value[T] {
	s := Shape{Number: true, Low: strconv.FormatInt(low, 10), High: strconv.FormatInt(high, 10)}
	return put(s, at, func(w *walker, e entry) (*Int, bool) { return w.integer(e, low, high) })
}

func durationValue[T any](at func(*T) **Duration, low, high string) value[T] {
	return put(durationShape(low, high), at, func(w *walker, e entry) (*Duration, bool) { return w.duration(e, low, high) })
}

func durationShape(low, high string) Shape {
	return Shape{Text: true, Pattern: durationRE.String(), Low: low, High: high, About: "Whole number and unit: 250ms, 30s, 5m, 12h, 8d."}
}

func sizeValue[T any](at func(*T) **Size, low, high string) value[T] {
	s := Shape{Text: true, Pattern: sizeRE.String(), Low: low, High: high, About: "Whole number and unit: 512KiB, 4MiB."}
	return put(s, at, func(w *walker, e entry) (*Size, bool) { return w.size(e, low, high) })
}

// textsValue is a list of texts, of one at least.
func textsValue[T any](at func(*T) **Texts) value[T] {
	return put(someOf(textShape), at, func(w *walker, e entry) (*Texts, bool) { return w.texts(e, 1) })
}

// texts reads a list of at least least texts.
func (w *walker) texts(e entry, least int) (*Texts, bool) {
	if !w.isList(e) {
		return nil, false
	}
	out := &Texts{Key: e.key, Pos: e.node.Pos}
	if len(e.node.Items) < least {
		w.ds.Add(e.node.Pos, "E106", e.what+" must not be an empty list", "")
		return nil, false
	}
	ok := true
	for _, item := range e.node.Items {
		if t, fine := w.full(entry{what: "an item of " + e.what, node: item}); fine {
			out.Items = append(out.Items, *t)
		} else {
			ok = false
		}
	}
	return out, ok
}

// Words is a list of words that a key may have, each of them once.
type Words struct {
	Key   Pos
	Pos   Pos
	Items []Text
}

// Get returns the word, or nil; w may be nil.
func (w *Words) Get(word string) *Text {
	if w == nil {
		return nil
	}
	if i := slices.IndexFunc(w.Items, func(t Text) bool { return t.Value == word }); i >= 0 {
		return &w.Items[i]
	}
	return nil
}

func wordsValue[T any](at func(*T) **Words, allowed ...string) value[T] {
	return put(someOf(Shape{Words: allowed}), at, func(w *walker, e entry) (*Words, bool) {
		if e.node.Kind != ListNode {
			w.notThatKind(e, "a list", "list those that apply: "+e.what+": ["+strings.Join(allowed, ", ")+"]")
			return nil, false
		}
		if !w.some(e) {
			return nil, false
		}
		words, ok := &Words{Key: e.key, Pos: e.node.Pos}, true
		for _, item := range e.node.Items {
			t, fine := w.word(entry{what: "an item of " + e.what, node: item}, allowed)
			if fine && words.Get(t.Value) != nil {
				fine = false
				w.ds.Add(t.Pos, "E107", quote(t.Value)+" appears twice in "+e.what, "one is enough")
			}
			if fine {
				words.Items = append(words.Items, *t)
			}
			ok = ok && fine
		}
		return words, ok
	})
}

// oneOrMore reads a text, or a list of texts.
func oneOrMore(w *walker, e entry) (*Texts, bool) {
	if e.node.Kind == ListNode {
		return w.texts(e, 1)
	}
	t, ok := w.full(e)
	if !ok {
		return nil, false
	}
	return &Texts{Items: []Text{*t}, Key: e.key, Pos: e.node.Pos}, true
}

// some reports E106 if a map or list that must hold something is empty.
func (w *walker) some(e entry) bool {
	if (e.node.Kind == MapNode || e.node.Kind == ListNode) && len(e.node.Pairs)+len(e.node.Items) == 0 {
		w.ds.Add(e.node.Pos, "E106", e.what+" must not be an empty "+e.node.Kind.word(), "")
		return false
	}
	return true
}
