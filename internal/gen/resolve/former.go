package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveCompare marks the fields under compare as used, and reports those that copies
// cannot share.
func resolveCompare(report *syntax.Diagnostics, e *draft.Event, spec *syntax.IdempotencyKey) {
	if spec.Compare == nil {
		return
	}
	seen := map[string]bool{}
	for _, at := range spec.Compare.Fields {
		if seen[at.Value] {
			report.Add(at.Pos, "E107", "field "+wording.Quote(at.Value)+" appears twice in compare", "one is enough")
			continue
		}
		seen[at.Value] = true
		f := use(report, e, at, fieldOnly)
		if f != nil && f.Source.Kind == model.FromRecord && f.Source.Record != "value" {
			report.Add(at.Pos, "E310", fmt.Sprintf("field %s is the record's %s, which is not compared: it is not part of the event's content", wording.Quote(f.Name), f.Source.Record),
				"name fields of the payload, of headers, of the record key, or of the record's value")
		}
	}
}

// resolveCompared collects what two records of one key must share: the fields that the
// spec lists, or all that the producer sent, as far as the event uses them.
func resolveCompared(e *draft.Event) {
	k := e.Model.Key
	if k == nil || k.Offset {
		return
	}
	compare := e.KeySpec().Compare
	for _, f := range e.Model.Fields {
		listed := true
		switch {
		case compare == nil || compare.Word != nil && compare.Word.Value == "declared":
		case compare.Word != nil:
			listed = false
		default:
			listed = slices.ContainsFunc(compare.Fields, func(t syntax.Text) bool { return t.Value == f.Name })
		}
		if listed && (f.Source.Kind != model.FromRecord || f.Source.Record == "value") {
			k.Compared = append(k.Compared, f)
		}
	}
	slices.SortFunc(k.Compared, func(a, b *model.Field) int { return strings.Compare(a.Name, b.Name) })
}
