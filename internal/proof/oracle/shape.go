package oracle

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// shape is what a spec declares of a payload: members by name, and what a list holds.
// Names that it lacks may be data of the producer and never appear in a path.
type shape struct {
	members map[string]*shape
	elem    *shape
	each    *shape // of the members whose names are data
	data    bool   // the names of its members are data, though some may be declared
	json    bool   // it is read as it is, too, before its members are
}

func shapeOf(fields []*model.Field) *shape {
	s := &shape{members: map[string]*shape{}}
	s.declare(fields)
	return s
}

func (s *shape) declare(fields []*model.Field) {
	for _, f := range fields {
		if f.Source.Kind != model.FromPayload {
			continue
		}
		at := s
		for _, name := range f.Source.Path {
			if at.members[name] == nil {
				at.members[name] = &shape{members: map[string]*shape{}}
			}
			at = at.members[name]
		}
		at.hold(f.Type)
	}
}

func (s *shape) hold(t model.FieldType) {
	switch t.Kind {
	case model.Object:
		s.declare(t.Named.Fields)
	case model.JSON:
		s.json = true
	case model.Map:
		s.data = true
		s.each = &shape{members: map[string]*shape{}}
		s.each.hold(*t.Elem)
	case model.List:
		if s.elem == nil {
			s.elem = &shape{members: map[string]*shape{}}
		}
		s.elem.hold(*t.Elem)
	}
}

// known is the path along the trail as far as the spec declares it, from the payload's root on.
// Text that breaks at a place inside of JSON that is read as it is counts from the JSON's start.
func (s *shape) known(root *node, trail []string, at int) (path string, first int) {
	for _, step := range append(slices.Clone(trail), "") { // "": where the trail ends
		if s.json && root != nil {
			return path, root.start
		}
		next := s.members[step]
		switch {
		case s.data:
			return path, at
		case next != nil:
			path = join(path, step)
		case s.elem != nil && strings.HasPrefix(step, "["):
			next = s.elem
			path += step
		default:
			return path, at
		}
		s, root = next, root.last(step)
	}
	return path, at
}

// last is the last member of a name, or the last element; nil if there is none.
func (n *node) last(step string) *node {
	if n == nil {
		return nil
	}
	for _, m := range slices.Backward(n.members) {
		if m.name == step {
			return m.node
		}
	}
	if len(n.elems) > 0 {
		return n.elems[len(n.elems)-1]
	}
	return nil
}
