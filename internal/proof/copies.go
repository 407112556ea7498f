package proof

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Copies says what becomes of copies of an event's records.
type Copies struct {
	Keyed bool // they have an identity of their own: a second copy has no effect
	Here  bool // only within their partition (copies: same_partition)
	// Opaque: nothing of the payload is read, so that it may hold anything.
	Opaque bool
	// Loose are members of the payload, as "a.b", whose change is no conflict. Those in Naming are
	// part of the key: another value may be another event.
	Loose, Naming []string
}

// CopiesOf says it of an event.
func CopiesOf(e *model.Event) Copies {
	c := Copies{Opaque: !e.Tombstone && opaque(e)}
	if e.Key == nil || e.Key.Offset {
		return c
	}
	c.Keyed, c.Here = true, e.Key.SamePartition
	for _, f := range e.Fields {
		switch {
		case f.Source.Kind != model.FromPayload || slices.ContainsFunc(e.Key.Compared, func(o *model.Field) bool { return overlap(o, f) }):
		case slices.ContainsFunc(e.Key.Parts, func(p model.KeySource) bool { return p.Field != nil && overlap(p.Field, f) }):
			c.Naming = append(c.Naming, strings.Join(f.Source.Path, "."))
		default:
			c.Loose = append(c.Loose, strings.Join(f.Source.Path, "."))
		}
	}
	return c
}

// overlap reports whether a change of one field's member may change the other field.
func overlap(a, b *model.Field) bool {
	within := func(a, b []string) bool { return len(a) >= len(b) && slices.Equal(a[:len(b)], b) }
	p, q := a.Source.Path, b.Source.Path
	return a.Source.Kind == model.FromPayload && (within(p, q) || within(q, p))
}

// opaque reports whether a record of the event takes effect whatever its payload holds.
func opaque(e *model.Event) bool {
	if e.Topic.TypeInPayload() {
		return false
	}
	return !slices.ContainsFunc(e.Fields, func(f *model.Field) bool {
		whole := f.Source.Kind == model.FromRecord && f.Source.Record == "value"
		return f.Source.Kind == model.FromPayload || whole && f.Type.Kind == model.JSON
	})
}
