package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkUnused reports types and fields that are declared but that nothing uses (E212). A type
// with fields may serve several events, so its members need not all be used by each.
func checkUnused(report *syntax.Diagnostics, d *draft.Service) {
	for _, t := range d.Types.All {
		if name := t.Spec.Name; d.Complete() && !d.Types.Used[name.Value] {
			report.Add(name.Pos, "E212", fmt.Sprintf("type %s is declared but nothing uses it", wording.Quote(name.Value)), "remove it, or make it the type of a field")
		}
	}
	for _, t := range d.Topics {
		for _, e := range t.Events {
			if e.Model.HasCode() || e.Unsure || e.Spec.Taken {
				continue
			}
			for _, n := range e.Scope.Names {
				if n.Origin == draft.OwnField && !n.Used && n.Field != nil {
					report.Add(n.Pos, "E212", fmt.Sprintf("field %s of %s is declared but nothing uses it", wording.Quote(n.Text), e.Is()),
						"remove it (unknown members are ignored), or add a column of its name to the table")
				}
			}
		}
		checkTopicFields(report, t)
	}
}

func checkTopicFields(report *syntax.Diagnostics, t *draft.Topic) {
	if t.Spec.Broken {
		return
	}
	for _, f := range t.Fields {
		used := slices.ContainsFunc(t.Events, func(e *draft.Event) bool {
			n := e.Scope.Find(f.Spec.Name.Value)
			return e.Model.HasCode() || e.Unsure || n != nil && n.Used
		})
		if f.Field != nil && !used {
			report.Add(f.Spec.Name.Pos, "E212", fmt.Sprintf("field %s of topic %s is declared but nothing uses it", wording.Quote(f.Spec.Name.Value), wording.Quote(t.Spec.Name.Value)),
				"remove it (unknown members are ignored), or add a column of its name to a table that one of the events writes")
		}
	}
}
