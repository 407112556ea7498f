package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// resolveFormer resolves the sources that copies of older events are still known by.
func (r *topicReader) resolveFormer(e *draft.Event, spec *schema.IdempotencyKey) {
	if len(spec.Also) > maxFormer {
		r.report.Add(spec.Also[maxFormer].Pos, "E708", fmt.Sprintf("also has %d former sources, but at most %d may be", len(spec.Also), maxFormer), "take out those for which the window has passed")
		return
	}
	if e.Spec.Effect != nil && len(spec.Also) > 0 {
		r.report.Add(spec.Also[0].Pos, "E707", fmt.Sprintf("also cannot be used with the effect of event %s: its call is known by one key, and a copy that is known by another one would make a second call", wording.Quote(e.Spec.Name.Value)),
			"give events with an effect a topic, or an idempotency_key of their own without also")
		return
	}
	now := sourceTexts(spec.Source)
	var seen [][]string
	for _, former := range spec.Also {
		texts := sourceTexts(former.Parts)
		same := func(o []string) bool { return slices.Equal(o, texts) }
		switch {
		case same(now):
			r.report.Add(former.Pos, "E107", "also names what source names already", "former sources are those that source named before")
			continue
		case slices.ContainsFunc(seen, same):
			r.report.Add(former.Pos, "E107", "a former source appears twice in also", "one is enough")
			continue
		}
		seen = append(seen, texts)
		if parts := keyParts(r.report, e, former.Parts, "an item of also", r.findKeyField); len(parts) == len(former.Parts) {
			space := keySpace(r.consumer, e, draft.Reach(spec), former.Parts)
			e.Model.Key.Former = append(e.Model.Key.Former, model.FormerKey{Space: space, Parts: parts})
		}
	}
}

func sourceTexts(source []schema.KeySource) []string {
	texts := make([]string, len(source))
	for i, src := range source {
		texts[i] = sourceText(src)
	}
	return texts
}

// resolveCompare marks the fields under compare as used, and reports those that copies
// cannot share.
func resolveCompare(report *schema.Diagnostics, e *draft.Event, spec *schema.IdempotencyKey) {
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
		if f != nil && f.Source.Kind == model.FromRecord && !f.Source.Raw {
			report.Add(at.Pos, "E310", fmt.Sprintf("field %s is the record's %s, which is not compared: it is no content of the event", wording.Quote(f.Name), f.Source.Record),
				"name fields of the payload, of headers or of the record key")
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
	k.CompareName = draft.Reach(e.KeySpec()) < 3 && (compare == nil || compare.Word != nil && compare.Word.Value == "declared")
	for _, f := range e.Model.Fields {
		listed := true
		switch {
		case compare == nil || compare.Word != nil && compare.Word.Value == "declared":
		case compare.Word != nil:
			listed = false
		default:
			listed = slices.ContainsFunc(compare.Fields, func(t schema.Text) bool { return t.Value == f.Name })
		}
		if listed && (f.Source.Kind != model.FromRecord || f.Source.Raw) {
			k.Compared = append(k.Compared, f)
		}
	}
	slices.SortFunc(k.Compared, func(a, b *model.Field) int { return strings.Compare(a.Name, b.Name) })
}
