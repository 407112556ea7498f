package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkHeaders reports a header of a topic that one place reads as binary, and another one as a
// text or as another type (E306).
func checkHeaders(report *syntax.Diagnostics, t *draft.Topic) {
	for _, e := range t.Events {
		for _, n := range e.Scope.Names {
			f := n.Field
			if f == nil || !f.Source.Binary {
				continue
			}
			other := otherReader(t, f)
			if other == "" {
				continue
			}
			report.Add(n.Pos, "E306", fmt.Sprintf("field %s of %s reads header %s as binary, but %s reads it in another way", wording.Quote(f.Name), e.Is(), wording.Quote(f.Source.Header), other),
				"a binary header is read by fields of one type and encoding; name the field in source, and let event_type read another header")
			return
		}
	}
}

// otherReader says what reads a binary header in another way than a field does; "" if nothing.
func otherReader(t *draft.Topic, f *model.Field) string {
	header := f.Source.Header
	if slices.ContainsFunc(t.Model.EventType, func(by model.Discriminator) bool { return by.Header == header }) {
		return "event_type"
	}
	for _, e := range t.Events {
		for _, n := range e.Scope.Names {
			if o := n.Field; o != nil && o.Source.Kind == model.FromHeader && o.Source.Header == header && (!o.Source.Binary || o.Type.Kind != f.Type.Kind) {
				return fmt.Sprintf("field %s of %s", wording.Quote(o.Name), e.Is())
			}
		}
		if k := e.Model.Key; k != nil && slices.ContainsFunc(k.Parts, func(p model.KeySource) bool { return p.Field == nil && p.Header == header }) {
			return "the idempotency key of " + e.Is()
		}
	}
	return ""
}
