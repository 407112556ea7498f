package oracle

import (
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// declared is the shape of an event's payload, with the members that name its type and version.
func declared(def *model.Event) *shape {
	fields := def.Fields
	for _, by := range []*model.Discriminator{def.Topic.EventType, def.Topic.EventVersion} {
		if by.InPayload() {
			fields = append([]*model.Field{{Source: model.Source{Kind: model.FromPayload, Path: by.Path}}}, fields...)
		}
	}
	return shapeOf(fields)
}

// undeclared refuses members that the spec does not name, where it names any.
func (d *decoder) undeclared(n *node, s *shape, path string) {
	if n == nil || s == nil {
		return
	}
	for i, e := range n.elems {
		d.undeclared(e, s.elem, path+"["+strconv.Itoa(i)+"]")
	}
	if s.data {
		before := len(d.faults)
		for _, m := range n.members {
			d.undeclared(m.node, s.each, path)
		}
		for _, f := range d.faults[before:] {
			f.path = path // the names are the producer's
		}
		return
	}
	if len(s.members) == 0 {
		return
	}
	for _, m := range n.members {
		inner := s.members[m.name]
		switch {
		case inner != nil:
			d.undeclared(m.node, inner, join(path, m.name))
		case m.node != nil && !m.node.truncated:
			d.fail(m.node.start, join(path, plainASCII(m.name)), "is not declared")
		}
	}
}

// plainASCII is the start of a name as Go would quote it, without the quotes if it is not empty.
func plainASCII(name string) string {
	if name == "" {
		return `""`
	}
	quoted := strconv.QuoteToASCII(name)
	inner := strings.TrimSuffix(strings.TrimPrefix(quoted, "\""), "\"")
	return inner[:min(64, len(inner))]
}
