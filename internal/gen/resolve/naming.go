package resolve

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// place is where fields are read: their paths start at root, and a field without a path is the
// member of its name, spelled by naming.
type place struct {
	root   []string
	naming string
	topic  *syntax.Topic // nil for the members of a type
}

// from is the place of an event's or a topic's fields.
func (p place) from(root *syntax.Path) place {
	p.root = p.path(root)
	return p
}

// path is a path as members from the whole value.
func (p place) path(spec *syntax.Path) []string {
	switch {
	case spec == nil:
		return p.root
	case spec.Whole:
		return slices.Clone(spec.Members)
	}
	return slices.Concat(p.root, spec.Members)
}

// field is the path of a field, as members from the whole value.
func (p place) field(spec *syntax.Field) []string {
	if spec.Path != nil {
		return p.path(spec.Path)
	}
	return slices.Concat(p.root, []string{spell(spec.Name.Value, p.naming)})
}

// spell writes a name of the spec, which is snake_case, by a naming.
func spell(name, naming string) string {
	if naming == "snake_case" {
		return name
	}
	first, others, _ := strings.Cut(name, "_")
	for word := range strings.SplitSeq(others, "_") {
		if word != "" {
			first += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return first
}

// namingOf is the naming of a topic's payloads.
func namingOf(t *syntax.Topic) string {
	if t.Payload == nil || t.Payload.Naming == nil {
		return "snake_case"
	}
	return t.Payload.Naming.Value
}

// topicPlace is where the fields of a topic's events are.
func topicPlace(t *syntax.Topic) place {
	at := place{naming: namingOf(t), topic: t}
	if t.Payload != nil {
		at = at.from(t.Payload.Root)
	}
	return at
}

// readTypes resolves the types by the naming of each topic: a type is read in several ways if
// topics of several namings use it.
func (r *topicReader) readTypes(spec *syntax.Spec) {
	first := "snake_case"
	if len(spec.Topics) > 0 {
		first = namingOf(spec.Topics[0])
	}
	r.types = resolveTypes(r.report, spec, place{naming: first}, nil)
	r.spelled = map[string]*draft.Types{first: r.types}
	for _, t := range spec.Topics {
		if hasResult(t) && r.spelled["snake_case"] == nil {
			r.spelled["snake_case"] = resolveTypes(r.report, spec, place{naming: "snake_case"}, r.types)
		}
		if naming := namingOf(t); r.spelled[naming] == nil {
			r.spelled[naming] = resolveTypes(r.report, spec, place{naming: naming}, r.types)
		}
	}
}

// hasResult reports whether an event of a topic has an effect with a result, whose members are
// stored under their own names.
func hasResult(t *syntax.Topic) bool {
	return slices.ContainsFunc(t.Events, func(e *syntax.Event) bool { return e.Effect != nil && e.Effect.Result != nil })
}

// spelling says whether a type has other members under another naming.
type spelling struct {
	types *draft.Types
	a, b  string
	seen  map[*draft.Type]bool
}

func (s spelling) differs(e *draft.Type) bool {
	if e == nil || s.seen[e] {
		return false
	}
	s.seen[e] = true
	own := func(f *syntax.Field) bool {
		return f.Path == nil && spell(f.Name.Value, s.a) != spell(f.Name.Value, s.b)
	}
	return slices.ContainsFunc(e.Spec.Fields, own) || slices.ContainsFunc(e.Spec.Fields, func(f *syntax.Field) bool {
		ft := f.Type
		for ft != nil && ft.Elem != nil {
			ft = ft.Elem
		}
		return ft != nil && s.differs(s.types.Find(ft.Name))
	})
}

// otherwise says how a type is read under another naming than the first topic's: as a type of
// its own, which has the same Go type, unless its members are the same.
func otherwise(of *draft.Types, t *syntax.Type, naming string) *draft.Type {
	first := of.Find(t.Name.Value)
	if first.Spec != t || !(spelling{of, of.Naming, naming, map[*draft.Type]bool{}}).differs(first) {
		return first
	}
	m := &model.Type{Name: first.Model.Name, GoName: first.Model.GoName, Doc: first.Model.Doc, First: first.Model}
	return &draft.Type{Spec: t, Model: m, Broken: t.Broken || t.Kind == 0}
}
