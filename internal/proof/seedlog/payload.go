package seedlog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// tree is a JSON value in the making: an object with its members in order, or text.
type tree struct {
	text    string
	object  bool
	mapped  bool // its values are of one type, which takes no null
	names   []string
	members map[string]*tree
}

// at returns the node at a path and makes objects on the way; nil if a value is in the way.
func (t *tree) at(path []string) *tree {
	if len(path) == 0 {
		return t
	}
	if t.text != "" {
		return nil
	}
	t.object = true
	next := t.members[path[0]]
	if next == nil {
		next = &tree{}
		if t.members == nil {
			t.members = map[string]*tree{}
		}
		t.members[path[0]] = next
		t.names = append(t.names, path[0])
	}
	return next.at(path[1:])
}

// put sets the text at a path unless something is there.
func (t *tree) put(path []string, text string) {
	if n := t.at(path); n != nil && !n.object && n.text == "" {
		n.text = text
	}
}

func (t *tree) String() string {
	if !t.object {
		if t.text == "" {
			return "{}"
		}
		return t.text
	}
	var b strings.Builder
	for i, name := range t.names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(Quote(name) + ":" + t.members[name].String())
	}
	return "{" + b.String() + "}"
}

// Quote writes text as a JSON string, without HTML escapes.
func Quote(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string builder takes every string
	return strings.TrimSuffix(b.String(), "\n")
}

// payload builds the value of a record from its payload fields. Maps come first, and other
// fields read members of theirs. Whole JSON values come last: what other fields read below them
// is already there then.
func (w *writer) payload(v visit) []byte {
	root := &tree{}
	for i, text := range w.typeTexts(v.event) {
		if by := w.topic.EventType[i]; by.Header == "" {
			root.put(by.Path, Quote(text))
		}
	}
	for i, f := range v.event.Fields { // what steps do with a part decides, not its name in the whole
		if slices.ContainsFunc(v.event.Fields, func(whole *model.Field) bool { return holds(whole, f) }) {
			w.member(root, f.Source.Path, f, i)
		}
	}
	for _, turn := range []func(model.Kind) bool{isMap, isOther, isJSON} {
		w.members(root, v.event.Fields, 0, turn)
	}
	for _, f := range v.event.Fields {
		if f.Source.Kind == model.FromRecord && f.Source.Record == "value" && !root.object && root.text == "" {
			return []byte(scalar(asText(f.Type), w.roles.class(f), f.Name, v.number))
		}
	}
	return []byte(root.String())
}

// holds reports whether one field is an object that holds another one.
func holds(whole, part *model.Field) bool {
	if whole.Type.Kind != model.Object || whole.Source.Kind != model.FromPayload || part.Source.Kind != model.FromPayload {
		return false
	}
	n := len(whole.Source.Path)
	return len(part.Source.Path) > n && slices.Equal(part.Source.Path[:n], whole.Source.Path)
}

func isMap(k model.Kind) bool   { return k == model.Map }
func isJSON(k model.Kind) bool  { return k == model.JSON }
func isOther(k model.Kind) bool { return !isMap(k) && !isJSON(k) }

// object makes n an object of a type.
func object(w *writer, n *tree, t *model.Type, i int) {
	n.object = true
	w.members(n, t.Fields, i, isMap)
	w.members(n, t.Fields, i, func(k model.Kind) bool { return !isMap(k) })
}

// members writes those fields below a node that come from the payload and whose turn it is.
func (w *writer) members(to *tree, fields []*model.Field, i int, turn func(model.Kind) bool) {
	for j, f := range fields {
		if f.Source.Kind == model.FromPayload && turn(f.Type.Kind) {
			w.member(to, f.Source.Path, f, i+j)
		}
	}
}

// member writes one field below a node; i is its place among its siblings, by which
// optional ones take turns.
func (w *writer) member(to *tree, path []string, f *model.Field, i int) {
	switch w.presence(f, i) {
	case isAbsent:
		if marker := w.topic.Payload.AbsentMarker; f.Patch && marker != "" && w.now.number%2 == 0 {
			to.put(path, Quote(marker))
		}
		return
	case isNull:
		if len(path) == 0 || !to.at(path[:len(path)-1]).mapped {
			to.put(path, "null")
		}
		return
	}
	switch f.Type.Kind {
	case model.Object:
		n := to.at(path)
		if n == nil || n.text != "" {
			return
		}
		object(w, n, f.Type.Named, i)
		return
	case model.Map:
		w.mapping(to.at(path), f, *f.Type.Elem, i)
		return
	}
	to.put(path, w.json(f, f.Type, f, i))
}

// json writes a value of f or of its elements; node says whose class it has.
func (w *writer) json(f *model.Field, t model.FieldType, node any, i int) string {
	switch t.Kind {
	case model.List:
		return w.list(f, *t.Elem, i)
	case model.Map:
		n := &tree{}
		w.mapping(n, f, *t.Elem, i)
		return n.String()
	case model.Object:
		n := &tree{}
		object(w, n, t.Named, i)
		return n.String()
	}
	text := w.text(t, f, node)
	if quoted(t) {
		return Quote(text)
	}
	return text
}

func (w *writer) list(f *model.Field, elem model.FieldType, i int) string {
	outer := w.element
	defer func() { w.element = outer }()
	var parts []string
	for n := range w.length(f) {
		w.element = n + 1
		parts = append(parts, w.json(f, elem, element{f}, i))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// mapping makes n a map of no, one or two names, which do not come in their order.
func (w *writer) mapping(n *tree, f *model.Field, elem model.FieldType, i int) {
	outer := w.element
	defer func() { w.element = outer }()
	n.object, n.mapped = true, true
	for count := 2 - w.variant%3; count > 0; count-- {
		w.element = count
		n.put([]string{fmt.Sprintf("%s %d", f.Name, count)}, w.json(f, elem, element{f}, i))
	}
}

// length is how many elements a list has: lists that write rows always hold the row that
// other events of the same row identity name, and are empty in bare records only.
func (w *writer) length(f *model.Field) int {
	rows := slices.ContainsFunc(w.now.event.Steps, func(s *model.Step) bool { return s.Each == f })
	switch {
	case w.now.bare && rows:
		return 0
	case rows && w.now.row%2 == 0:
		return 2
	case rows:
		return 2 - w.variant%2
	}
	return 2 - w.variant%3
}
