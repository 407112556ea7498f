package check

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/typeword"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkKeysAlike reports events that share a key space but build their keys from
// different parts (E510).
func checkKeysAlike(report *schema.Diagnostics, d *draft.Service) {
	var consumer *draft.Event
	for _, t := range d.Topics {
		var first *draft.Event
		for _, e := range t.Events {
			spec := e.KeySpec()
			if spec == nil || e.Model.Key == nil || e.Model.Key.Offset || len(e.Model.Key.Parts) != len(spec.Source) {
				continue
			}
			switch draft.Reach(spec) {
			case 2:
				checkAlike(report, &first, e)
			case 1:
				checkAlike(report, &consumer, e)
			}
		}
	}
}

func checkAlike(report *schema.Diagnostics, first **draft.Event, e *draft.Event) {
	if *first == nil {
		*first = e
		return
	}
	spec := e.KeySpec()
	if (*first).Model.Key.SamePartition != e.Model.Key.SamePartition {
		report.Add(spec.UniquePer.Pos, "E510", fmt.Sprintf("unique_per: %s needs one place for all keys; event %s says copies: %s, %s says %s",
			spec.UniquePer.Value, wording.Quote((*first).Spec.Name.Value), copies((*first).Model.Key), wording.Quote(e.Spec.Name.Value), copies(e.Model.Key)), "give both the same copies, or use unique_per: event")
	}
	a, b := partsText((*first).Model.Key.Parts), partsText(e.Model.Key.Parts)
	if a == b {
		return
	}
	report.Add(spec.UniquePer.Pos, "E510", fmt.Sprintf("unique_per: %s needs keys of the same parts; event %s has %s, %s has %s",
		spec.UniquePer.Value, wording.Quote((*first).Spec.Name.Value), a, wording.Quote(e.Spec.Name.Value), b), "give both the same parts, of the same names and types, or use unique_per: event")
}

func copies(k *model.IdempotencyKey) string {
	if k.SamePartition {
		return "same_partition"
	}
	return "anywhere"
}

// partsText writes the parts of a key as [header X, payment_id uuid].
func partsText(key []model.KeySource) string {
	var parts []string
	for _, p := range key {
		if p.Field == nil {
			parts = append(parts, "header "+p.Header)
			continue
		}
		parts = append(parts, p.Field.Name+" "+typeword.Text(p.Field.Type))
	}
	return wording.Bracketed(parts)
}
