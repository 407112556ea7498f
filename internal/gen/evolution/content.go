package evolution

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/definition"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// otherContent names the events with a stored key whose content has another definition because of
// a change at a path of the spec; "" if there are none. It names each event once.
func (c *comparison) otherContent(path []string) string {
	var names []string
	for _, t := range c.now.Service.Topics {
		for _, now := range t.Events {
			old := eventOf(c.old.Service, t.Name, now.Name)
			if old == nil || !sameKey(old, now) || old.Key.Content == now.Key.Content || slices.Contains(c.contents, now) || !concerns(path, now) {
				continue
			}
			c.contents = append(c.contents, now)
			names = append(names, strconv.Quote(now.Name)+" of "+t.Name)
		}
	}
	if names == nil {
		return ""
	}
	return ". The content of event " + strings.Join(names, ", ") +
		" is defined differently: duplicates of events that were applied before are recognized, but their content is not compared"
}

// sameKey reports whether an event stores keys, and the same ones as before.
func sameKey(old, now *model.Event) bool {
	was, is := old.Key, now.Key
	return was != nil && is != nil && !was.Offset && !is.Offset && was.Space == is.Space && was.SamePartition == is.SamePartition &&
		slices.Equal(definition.Parts(was.Parts), definition.Parts(is.Parts))
}

// concerns reports whether what stands at a path of the spec may decide which fields of an event
// are compared, or how they are read. A change of compare is reported separately.
func concerns(path []string, e *model.Event) bool {
	if len(path) < 3 {
		return false
	}
	switch {
	case path[0] == "types":
		return path[2] == "fields" && slices.ContainsFunc(e.Fields, func(f *model.Field) bool { return holds(f.Type, path[1], nil) })
	case path[0] != "topics" || path[1] != e.Topic.Name:
		return false
	case path[2] == "events":
		return len(path) > 4 && path[3] == e.Name && slices.Contains([]string{"fields", "write", "handle", "effect"}, path[4])
	}
	return path[2] == "fields" || path[2] == "record_key"
}

// holds reports whether a type of the spec is a part of a type. It has been inside of outer.
func holds(t model.FieldType, name string, outer []*model.Type) bool {
	switch {
	case t.Elem != nil:
		return holds(*t.Elem, name, outer)
	case t.Named == nil || slices.Contains(outer, t.Named):
		return false
	case t.Named.Name == name:
		return true
	}
	outer = append(outer, t.Named)
	return slices.ContainsFunc(t.Named.Fields, func(f *model.Field) bool { return holds(f.Type, name, outer) })
}
