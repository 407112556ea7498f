package gocode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// uncompared are the members of the payload whose change is no conflict, because no field
// that is compared is read from them, from a part of them or from what they are in. Those
// that name the event are part of one of its keys: another value may be another event.
func uncompared(e *model.Event) (loose, naming []string) {
	parts := slices.Clone(e.Key.Parts)
	for _, former := range e.Key.Former {
		parts = append(parts, former.Parts...)
	}
	for _, f := range e.Fields {
		switch {
		case f.Source.Kind != model.FromPayload || slices.ContainsFunc(e.Key.Compared, func(c *model.Field) bool { return overlap(c, f) }):
		case slices.ContainsFunc(parts, func(p model.KeySource) bool { return p.Field != nil && overlap(p.Field, f) }):
			naming = append(naming, strings.Join(f.Source.Path, "."))
		default:
			loose = append(loose, strings.Join(f.Source.Path, "."))
		}
	}
	return loose, naming
}

// overlap reports whether a change of one field's member may change the other field.
func overlap(a, b *model.Field) bool {
	within := func(a, b []string) bool { return len(a) >= len(b) && slices.Equal(a[:len(b)], b) }
	return a.Source.Kind == model.FromPayload && (within(a.Source.Path, b.Source.Path) || within(b.Source.Path, a.Source.Path))
}
