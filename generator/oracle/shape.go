package oracle

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
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
		for _, path := range f.Source.Paths() {
			at := s
			for _, name := range path {
				if at.members[name] == nil {
					at.members[name] = &shape{members: map[string]*shape{}}
				}
				at = at.members[name]
			}
			at.hold(f.Type)
		}
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

// known is the path along the trail as far as the spec declares it.
func (s *shape) known(trail []string) string {
	path := ""
	for _, step := range trail {
		next := s.members[step]
		if s.data || s.json {
			break
		}
		if next != nil {
			path = join(path, step)
		} else if next = s.elem; next != nil && strings.HasPrefix(step, "[") {
			path += step
		} else {
			break
		}
		s = next
	}
	return path
}
