package cases

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// form is what a value may hold: members, entries, elements, a scalar of a type, or anything.
type form struct {
	members map[string]*form
	entries *form // of members with names that are data
	element *form
	scalar  *model.FieldType
	open    bool
	is      *model.Shape // what the schema says of it, if there is one
}

// in is the form, which may be nil, of a value that the schema says this of.
func (f *form) in(is *model.Shape) *form {
	if is != nil {
		if f == nil {
			f = &form{}
		}
		f.is = is
	}
	return f
}

// member is the form of a member; nil if it may not be there.
func (f *form) member(name string) *form {
	inner := f.members[name]
	if inner == nil {
		inner = f.entries
	}
	return inner.in(f.is.Member(name))
}

// anything reports whether nothing is known of the members.
func (f *form) anything() bool {
	return f.open || f.members == nil && (f.is == nil || f.is.Members == nil)
}

// at is the form at a path below this one.
func (f *form) at(path []string) *form {
	if len(path) == 0 {
		return f
	}
	if f.members == nil {
		f.members = map[string]*form{}
	}
	if f.members[path[0]] == nil {
		f.members[path[0]] = &form{}
	}
	return f.members[path[0]].at(path[1:])
}

// holds says that a value of a type may be here.
func (f *form) holds(t model.FieldType) {
	switch t.Kind {
	case model.JSON:
		f.open = true
	case model.Object:
		for _, m := range t.Named.Fields {
			f.holdsAt(m)
		}
	case model.Map:
		f.entries = &form{}
		f.entries.holds(*t.Elem)
	case model.List:
		f.element = &form{}
		f.element.holds(*t.Elem)
	default:
		f.scalar = &t
	}
}

// holdsAt says that a field or a member may be at its path.
func (f *form) holdsAt(m *model.Field) { f.at(m.Source.Path).holds(m.Type) }

// payloadForm is what the payload of an event may hold.
func payloadForm(e *model.Event) *form {
	root := &form{}
	if m := e.Topic.Payload.Messages; m != nil {
		root.is = m.Holds
	}
	for _, by := range e.Topic.EventType {
		if by.Header == "" {
			root.at(by.Path).holds(model.FieldType{Kind: model.String})
		}
	}
	for _, f := range e.Fields {
		switch {
		case f.Source.Kind == model.FromPayload:
			root.holdsAt(f)
		case f.Source.Kind == model.FromRecord && f.Source.Record == "value":
			root.open = true
		}
	}
	return root
}

// keyForm is what a record key that is a JSON object may hold.
func keyForm(rk *model.RecordKey) *form {
	root := &form{}
	for _, part := range rk.Parts {
		root.at(part.Path).holds(part.Type)
	}
	return root
}

// json writes a value. Members that nothing reads, and no schema has, are refused: they are
// mistakes, or the record is better given as text.
func (r *reader) json(n *syntax.Node, f *form) string {
	switch n.Kind {
	case syntax.ListNode:
		element := f.element.in(f.is.Element())
		if element == nil {
			return untyped(n)
		}
		var parts []string
		for _, item := range n.Items {
			parts = append(parts, r.json(item, element))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case syntax.MapNode:
		var parts []string
		for _, p := range n.Pairs {
			inner := f.member(p.Key)
			switch {
			case inner != nil:
				parts = append(parts, seedlog.Quote(p.Key)+":"+r.json(p.Value, inner))
			case f.anything():
				parts = append(parts, seedlog.Quote(p.Key)+":"+untyped(p.Value))
			default:
				r.unknownMember(p, f)
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	switch {
	case n.Null():
	case f.scalar != nil:
		return scalar(n, *f.scalar)
	case f.is != nil && f.is.Kind != model.JSON:
		return scalar(n, model.FieldType{Kind: f.is.Kind})
	}
	return untyped(n)
}

func (r *reader) unknownMember(p syntax.Pair, f *form) {
	var names []string
	says := "no field of the event is read from " + wording.Quote(p.Key)
	for name := range f.members {
		names = append(names, name)
	}
	if f.is != nil {
		says = f.is.Says + " has no member " + wording.Quote(p.Key)
		names = slices.Collect(maps.Keys(f.is.Members))
	}
	slices.Sort(names)
	r.report.Add(p.KeyPos, "E207", says, syntax.Choices(p.Key, "members", names))
}

// scalar writes a text by the type of its field: what is a text in JSON is one, also if it looks
// like a number. In quotes it is a text whatever the type is.
func scalar(n *syntax.Node, t model.FieldType) string {
	switch t.Kind {
	case model.Decimal:
		if t.Notation != model.Unscaled {
			return untyped(n)
		}
	case model.Bool, model.Int32, model.Int64, model.Float64:
		return untyped(n)
	case model.Timestamp, model.LocalTimestamp, model.Date:
		if t.Notation != model.Usual {
			return untyped(n)
		}
	}
	return seedlog.Quote(n.Text)
}

var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// untyped writes a value by its looks.
func untyped(n *syntax.Node) string {
	switch n.Kind {
	case syntax.ListNode:
		var parts []string
		for _, item := range n.Items {
			parts = append(parts, untyped(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case syntax.MapNode:
		var parts []string
		for _, p := range n.Pairs {
			parts = append(parts, seedlog.Quote(p.Key)+":"+untyped(p.Value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	switch {
	case n.Quoted:
	case n.Null():
		return "null"
	case n.Text == "true", n.Text == "false", number.MatchString(n.Text):
		return n.Text
	}
	return seedlog.Quote(n.Text)
}
