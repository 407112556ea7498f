package syntax

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// walker reads the value of a node, of any section of the spec, and reports what is wrong
// with it. A section is two files: its types and readers (topics.go), and the table of its keys
// (topickeys.go). walkMap alone finds which keys of a map are unknown, missing or misspelt.
type walker struct {
	ds *Diagnostics
}

// entry is a value to be read and how messages call it.
type entry struct {
	what string // "window", `topic "orders.v1"`
	key  Pos    // zero in a list
	node *Node
}

// keys is the table of one map of the language.
type keys[T any] []key[T]

// key is one key of a map, and all that is said of it: to the reader of the spec, in its messages,
// in editors and in docs/keys.md. With instead it is none of the language.
type key[T any] struct {
	name     string
	required bool
	asked    bool   // required, and the reader of the map asks for it itself, by another code
	missing  string // of a required key: what to write, if that is not its example
	instead  string // not a key of the language, but looked for: what to write
	stands   string // with instead: the required key in whose place it stands
	with     string // of a key of steps: the verbs that take it, with blanks between them

	text     string // what it is for, in plain sentences: for editors and the reference
	more     string // what only the reference says, in Markdown
	values   string // what it takes, in Markdown, if the shape does not say it
	standard string // what holds without it, in Markdown
	codes    string // of its own errors, not of those that any key can have
	example  string // in YAML

	also  string // words of other tools for it, with blanks between them
	write string // what to write in their place
	asMap string // how a text that stands for its map is written: the text is TEXT
	value[T]
}

// value is how a value is read into its place in T; read reports whether it was
// accepted. The shape is what people and editors need to know of it.
type value[T any] struct {
	shape Shape
	read  func(w *walker, e entry, into *T) bool
}

func (ks keys[T]) built() []string {
	var out []string
	for _, k := range ks {
		if k.read != nil {
			out = append(out, k.name)
		}
	}
	slices.Sort(out)
	return out
}

func (ks keys[T]) find(name string) (key[T], bool) {
	i := slices.IndexFunc(ks, func(k key[T]) bool { return k.name == name })
	if i < 0 {
		return key[T]{}, false
	}
	return ks[i], true
}

// walkMap reads the map of e into into. It reports whether nothing in the map itself
// was refused.
func walkMap[T any](w *walker, e entry, ks keys[T], into *T) bool {
	if !w.isMap(e) {
		return false
	}
	ok := true
	var meant []string
	for p := range w.pairs(e) {
		k, known := ks.find(p.Key)
		switch {
		case k.instead != "":
			w.ds.Add(p.KeyPos, "E104", "unknown key "+quote(p.Key)+" in "+e.what, k.instead)
			meant = append(meant, k.stands)
			ok = false
		case !known:
			meant = append(meant, w.unknownKey(e, p, ks.built()))
			ok = false
		default:
			ok = k.read(w, entry{p.Key, p.KeyPos, p.Value}, into) && ok
		}
	}
	for _, k := range ks {
		if k.required && e.node.Get(k.name) == nil && !slices.Contains(meant, k.name) {
			hint := cmp.Or(k.missing, "for example "+k.example)
			w.ds.Add(firstKey(e), "E105", fmt.Sprintf("%s lacks the key %q", e.what, k.name), hint)
			ok = false
		}
	}
	return ok
}

// pairs goes over the entries of a map and reports keys that stand there twice; the
// first one counts.
func (w *walker) pairs(e entry) func(yield func(Pair) bool) {
	return func(yield func(Pair) bool) {
		first := make(map[string]int, len(e.node.Pairs))
		for _, p := range e.node.Pairs {
			if line, twice := first[p.Key]; twice {
				w.ds.Add(p.KeyPos, "E107", "key "+quote(p.Key)+" appears twice in "+e.what, fmt.Sprintf("the first one is on line %d", line))
				continue
			}
			first[p.Key] = p.KeyPos.Line
			if !yield(p) {
				return
			}
		}
	}
}

// unknownKey reports a key that the language does not have, and returns the key that
// was probably meant.
func (w *walker) unknownKey(e entry, p Pair, built []string) string {
	meant := Closest(p.Key, built)
	switch {
	case isEnvironment(p.Key):
		w.environment(p)
		return ""
	case insteadOf(p.Key) != "":
		w.ds.Add(p.KeyPos, "E104", "unknown key "+quote(p.Key)+" in "+e.what, insteadOf(p.Key))
	case meant != "":
		w.ds.Add(p.KeyPos, "E104", "unknown key "+quote(p.Key)+" in "+e.what, `did you mean "`+meant+`"?`)
	default:
		w.ds.Add(p.KeyPos, "E104", "unknown key "+quote(p.Key)+" in "+e.what, "keys here: "+strings.Join(built, ", "))
	}
	return meant
}

// firstKey is the place for what a map as a whole lacks.
func firstKey(e entry) Pos {
	if len(e.node.Pairs) > 0 {
		return e.node.Pairs[0].KeyPos
	}
	return e.node.Pos
}

// misspelt tells whether one of the map's unknown keys stands for name.
func misspelt[T any](e entry, ks keys[T], name string) bool {
	return slices.ContainsFunc(e.node.Pairs, func(p Pair) bool {
		_, known := ks.find(p.Key)
		return !known && Closest(p.Key, ks.built()) == name
	})
}

// isMap reports E106 if e is no map.
func (w *walker) isMap(e entry) bool {
	return e.node.Kind == MapNode || w.wrongKind(e, "a map")
}

// isList reports E106 if e is no list.
func (w *walker) isList(e entry) bool {
	return e.node.Kind == ListNode || w.wrongKind(e, "a list")
}

// isScalar reports E106 if e is no text or has no value; want says what it should be.
func (w *walker) isScalar(e entry, want string) bool {
	return e.node.Kind == ScalarNode && !e.node.null() || w.wrongKind(e, want)
}

func (w *walker) wrongKind(e entry, want string) bool { return w.notThatKind(e, want, "") }

// notThatKind is wrongKind with a hint for what was probably meant, or "".
func (w *walker) notThatKind(e entry, want, hint string) bool {
	n := e.node
	pos, have := n.Pos, "a "+n.Kind.word()
	switch {
	case n.null() && n.Text == "":
		have = "empty"
		if e.key != (Pos{}) {
			pos = e.key
		}
	case n.null():
		have = n.Text
	}
	if hint == "" {
		hint = meantKind(e, want)
	}
	w.ds.Add(pos, "E106", fmt.Sprintf("%s must be %s, not %s", e.what, want, have), hint)
	return false
}

// meantKind is the hint for a value of the wrong kind.
func meantKind(e entry, want string) string {
	n := e.node
	text := n.Kind == ScalarNode && !n.null()
	switch {
	case n.Text != "" && (want == "a string" || want == "a constant"): // it is null, written out
		return `if the text "` + n.Text + `" is meant, put it in quotes`
	case want == "a list" && text:
		return "write [" + short(n.Text) + "]"
	case want == "a list" && n.Kind == MapNode:
		return `every item of a list starts with "- "`
	case want == "a map" && n.Kind == ListNode:
		return `the entries of a map have no "- " before them`
	case want == "a map" && text:
		return strings.ReplaceAll(asMap[e.what], "TEXT", short(n.Text))
	}
	return ""
}

// put is a value that read makes and at finds the place for.
func put[T, V any](s Shape, at func(*T) **V, read func(w *walker, e entry) (*V, bool)) value[T] {
	return value[T]{shape: s, read: func(w *walker, e entry, into *T) bool {
		v, ok := read(w, e)
		if ok {
			*at(into) = v
		}
		return ok
	}}
}
