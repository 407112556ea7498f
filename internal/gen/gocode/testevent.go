package gocode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// uncompared are the members of the payload whose change is no conflict, because no field
// that is compared is read from them, from a part of them or from what they are in. Those
// that name the event are part of its key: another value may be another event.
func uncompared(e *model.Event) (loose, naming []string) {
	for _, f := range e.Fields {
		switch {
		case f.Source.Kind != model.FromPayload || slices.ContainsFunc(e.Key.Compared, func(c *model.Field) bool { return overlap(c, f) }):
		case slices.ContainsFunc(e.Key.Parts, func(p model.KeySource) bool { return p.Field != nil && overlap(p.Field, f) }):
			naming = append(naming, joined(f))
		default:
			loose = append(loose, joined(f))
		}
	}
	return loose, naming
}

// joined is the path of a field as a text.
func joined(f *model.Field) string { return strings.Join(f.Source.Path, ".") }

// overlap reports whether a change of one field's member may change the other field.
func overlap(a, b *model.Field) bool {
	within := func(a, b []string) bool { return len(a) >= len(b) && slices.Equal(a[:len(b)], b) }
	p, q := a.Source.Path, b.Source.Path
	return a.Source.Kind == model.FromPayload && (within(p, q) || within(q, p))
}

// eventTemplate is what all records of an event have in common, as the suite must know it.
func eventTemplate(e *model.Event) []code {
	var elems []code
	if e.Key != nil && !e.Key.Offset {
		elems = append(elems, text("Keyed: true"))
		if e.Key.SamePartition {
			elems = append(elems, text("Here: true"))
		}
		loose, naming := uncompared(e)
		if len(loose) > 0 {
			elems = append(elems, pair("Loose", text("[]string").Values(literals(loose)...)))
		}
		if len(naming) > 0 {
			elems = append(elems, pair("Naming", text("[]string").Values(literals(naming)...)))
		}
	}
	if e.Effect != nil {
		elems = append(elems, pair("Effect", lit(e.GoName)))
	}
	if e.Effect != nil && e.Effect.Lock != nil {
		elems = append(elems, text("Locked: true"))
	}
	if !e.Tombstone && opaque(e) {
		elems = append(elems, text("Opaque: true"))
	}
	return elems
}

// opaque reports whether a record of the event takes effect whatever its payload holds.
func opaque(e *model.Event) bool {
	if e.Topic.TypeInPayload() && !e.Tombstone {
		return false
	}
	return !slices.ContainsFunc(e.Fields, func(f *model.Field) bool {
		whole := f.Source.Kind == model.FromRecord && f.Source.Record == "value"
		return f.Source.Kind == model.FromPayload || whole && f.Type.Kind == model.JSON
	})
}
