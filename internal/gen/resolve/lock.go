package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveLock reads lock of an effect.
func (r *topicReader) resolveLock(e *draft.Event, m *model.Effect) {
	spec := e.Spec.Effect.Lock
	if spec == nil {
		return
	}
	m.Lock = &model.Lock{Name: spec.Name.Value, By: r.lockFields(e, spec)}
}

// lockFields resolves the fields that tell what is locked.
func (r *topicReader) lockFields(e *draft.Event, spec *syntax.Lock) (by []*model.Field) {
	seen := map[string]bool{}
	for _, at := range spec.By.Items {
		if seen[at.Value] {
			r.report.Add(at.Pos, "E107", "field "+wording.Quote(at.Value)+" appears twice in by", "one is enough")
		}
		seen[at.Value] = true
		if f := use(r.report, e, at, fieldOnly); f != nil && checkLockField(r.report, f, at) {
			by = append(by, f)
		}
	}
	return by
}

// checkLockField refuses fields that do not tell what is locked (E813).
func checkLockField(report *syntax.Diagnostics, f *model.Field, at syntax.Text) bool {
	name := wording.Quote(f.Name)
	const another = " or choose another field"
	switch {
	case f.Patch:
		report.Add(at.Pos, "E813", "field "+name+" may be missing, and then nothing would be locked", `remove "patch"`+another)
	case f.Type.Optional:
		report.Add(at.Pos, "E813", "field "+name+" may be missing, and then nothing would be locked", `remove "optional"`+another)
	case f.Default != nil:
		report.Add(at.Pos, "E813", "field "+name+" has a default, so all events without it would wait for one another", `remove "default"`+another)
	case ofRecord(f):
		report.Add(at.Pos, "E813", fmt.Sprintf("field %s is the record's %s, which no other event shares", name, f.Source.Record), "name what is locked")
	case !slices.Contains([]model.Kind{model.String, model.Enum, model.UUID, model.Int32, model.Int64}, f.Type.Kind):
		report.Add(at.Pos, "E813", fmt.Sprintf("%s field cannot identify what is locked: %s", withArticle(typeword.Text(f.Type)), name), "use a string, an enum, a uuid or an integer")
	default:
		return true
	}
	return false
}
