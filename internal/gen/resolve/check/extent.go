package check

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// maxExtent is how many members the payloads of a topic's events may have in all. Each type
// counts wherever it is used, and the elements of a list or map count twice, as often as they
// occur in the test data.
const maxExtent = 20_000

// extent is how large a value is when its types are written out.
type extent struct {
	members int
	levels  int // of objects, lists and maps
}

// unbounded is more than any extent is: types that hold each other twice double it.
const unbounded = 1 << 40

// measurer finds extents, of each type once.
type measurer map[*model.Type]extent

func (m measurer) of(t model.FieldType) extent {
	switch t.Kind {
	case model.List, model.Map:
		elem := m.of(*t.Elem)
		return extent{min(1+2*elem.members, unbounded), 1 + elem.levels}
	case model.Object:
		known, ok := m[t.Named]
		if !ok {
			m[t.Named] = extent{} // of a type that contains itself
			known = m.fields(t.Named.Fields)
			m[t.Named] = known
		}
		return extent{known.members, 1 + known.levels}
	}
	return extent{1, 0}
}

// fields is the extent of members together, without the object that they are in.
func (m measurer) fields(fields []*model.Field) (sum extent) {
	for _, f := range fields {
		if f.Source.Kind != model.FromPayload {
			continue
		}
		e := m.of(f.Type)
		sum.members = min(sum.members+max(1, e.members), unbounded)
		sum.levels = max(sum.levels, e.levels+max(0, len(f.Source.Path)-1))
	}
	return sum
}

// checkExtents refuses payloads that no record could have, and test data without end.
func checkExtents(report *syntax.Diagnostics, d *draft.Service) {
	m := measurer{}
	for _, t := range d.Topics {
		total := 0
		for _, e := range t.Events {
			own := m.fields(e.Model.Fields)
			if levels := own.levels + 1; levels > model.MaxDepth {
				report.Add(e.Spec.Name.Pos, "E708", fmt.Sprintf("%s nests %d levels, but a payload may have %d: no record could have them", e.Is(), levels, model.MaxDepth),
					"read the inner part as json")
			}
			before := total
			if total += max(1, own.members); before <= maxExtent && total > maxExtent {
				report.Add(e.Spec.Name.Pos, "E708", fmt.Sprintf("with %s the events of topic %s have more than %d members, counting types wherever they are used, and lists and maps twice", e.Is(), wording.Quote(t.Spec.Name.Value), maxExtent),
					"read parts that no step needs separately as json")
			}
		}
	}
}
