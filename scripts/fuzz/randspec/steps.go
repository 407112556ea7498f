package randspec

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// writer writes the steps of one event, and notes which fields they use.
type writer struct {
	r       *rand.Rand
	names   map[string]name
	used    map[string]bool // fields of the event
	lines   map[string]bool // members of the elements of its list
	each    bool            // of the step that is being written
	ordered bool            // the topic promises an order
	result  bool            // the event has an effect with a result
}

// verbs are as likely as they stand here.
var verbs = []string{"insert", "insert", "upsert", "upsert", "upsert", "update", "update", "delete", "add", "add"}

// step writes a table.
func (w *writer) step(t *table) *part {
	verb := pick(w.r, verbs)
	for verb == "add" && len(t.sums()) == 0 {
		verb = pick(w.r, verbs)
	}
	w.each = chance(w.r, 20)
	s := w.plain(verb, t)
	if w.each {
		s.add(need("each: lines"))
	}
	return s
}

// plain is a step without each.
func (w *writer) plain(verb string, t *table) *part {
	s := &part{lines: []string{"- " + verb + ": " + t.name}}
	switch verb {
	case "insert":
		w.fill(s, t, nil)
		w.maybe(s, 40, "if_exists: skip")
	case "upsert":
		w.fill(s, t, nil)
		if t.unique != nil && chance(w.r, 40) {
			s.add(leaf("by: [" + strings.Join(t.unique, ", ") + "]"))
		}
		w.newer(s, t)
		if free := w.free(t); len(free) > 0 {
			w.maybe(s, 10, "keep: ["+pick(w.r, free)+"]")
		}
	case "update":
		w.update(s, t)
	case "delete":
		w.where(s, t)
		w.newer(s, t)
	case "add":
		if len(t.sums()) > 0 {
			w.sums(s, t)
		}
	}
	return s
}

func (w *writer) maybe(s *part, percent int, line string) {
	if chance(w.r, percent) {
		s.add(leaf(line))
	}
}

// value is what a step may write for a column: a field, a member, a constant.
func (w *writer) value(column string) string {
	n := w.names[column]
	switch {
	case n.field == "" || n.constant != "" && chance(w.r, 8):
		return "{value: " + n.constant + "}"
	case w.result && n.answered() && chance(w.r, 40):
		return "result." + column
	case w.each && chance(w.r, 60):
		w.lines[column] = true
		return "each." + column
	}
	w.used[column] = true
	return column
}

// fill says what each column gets that is not filled already.
func (w *writer) fill(s *part, t *table, filled []string) {
	set := &part{lines: []string{"set:"}}
	var leave, empty []string
	for _, c := range t.columns {
		n := w.names[c]
		switch {
		case c == t.identity || slices.Contains(filled, c):
		case t.defaults[c] && chance(w.r, 50):
			leave = append(leave, c)
		case n.optional && !t.key(c) && chance(w.r, 25):
			empty = append(empty, c)
		case w.each && t.key(c) && slices.Contains([]string{"integer", "bigint"}, n.column) && chance(w.r, 30):
			set.add(leaf(c + ": {each: position}"))
		case w.each || n.field == "" || chance(w.r, 15) || w.result && !t.key(c) && n.answered():
			set.add(leaf(c + ": " + w.value(c)))
		default:
			w.used[c] = true // by its name
		}
	}
	if len(set.parts) > 0 {
		s.add(set)
	}
	list(s, "leave", leave)
	list(s, "clear", empty)
}

func list(s *part, key string, names []string) {
	if len(names) > 0 {
		s.add(leaf(key + ": [" + strings.Join(names, ", ") + "]"))
	}
}

func (w *writer) newer(s *part, t *table) {
	if t.has("ver") && (!w.ordered || chance(w.r, 50)) {
		w.used["ver"] = true
		s.add(leaf("if_newer: ver"))
	}
}

// free are the columns that do not find a row, and are no version.
func (w *writer) free(t *table) []string {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c string) bool {
		return t.key(c) || c == "ver" || c == t.identity || slices.Contains(t.unique, c)
	})
}

func (w *writer) where(s *part, t *table) {
	where := &part{lines: []string{"where:"}}
	by := t.primary
	if chance(w.r, 15) && t.unique != nil {
		by = t.unique
	}
	if many := len(by) > 1 && chance(w.r, 30); many {
		by = by[:1]
		defer s.add(leaf("many: true"))
	}
	for _, c := range by {
		where.add(leaf(c + ": " + w.value(c)))
	}
	s.add(where)
}

func (w *writer) update(s *part, t *table) {
	w.where(s, t)
	set := &part{lines: []string{"set:"}, needed: true}
	for _, c := range w.free(t) {
		if t.has("ver") && !w.ordered || chance(w.r, 50) { // parts of a row under one version need an order
			set.add(leaf(c + ": " + w.value(c)))
		}
	}
	if t.has("ver") && (!w.ordered || chance(w.r, 40)) {
		w.used["ver"] = true
		set.add(leaf("ver: ver"))
		s.add(leaf("if_newer: ver"))
	}
	s.add(set)
	w.maybe(s, 40, "if_missing: skip")
}

func (w *writer) sums(s *part, t *table) {
	sums := t.sums()
	where := &part{lines: []string{"where:"}}
	for _, c := range t.primary {
		where.add(leaf(c + ": " + w.value(c)))
	}
	s.add(where)
	s.add(&part{lines: []string{pick(w.r, []string{"plus:", "minus:"})}, parts: []*part{leaf(sums[0] + ": " + w.value(sums[0]))}})
	switch {
	case chance(w.r, 50):
		s.add(leaf("if_missing: insert"))
		w.fill(s, t, append(slices.Clone(t.primary), sums[0]))
	default:
		w.maybe(s, 50, "if_missing: skip")
	}
}
