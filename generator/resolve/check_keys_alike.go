package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// checkKeysAlike reports events that share a key space but build their keys from
// different parts (E510).
func checkKeysAlike(report *schema.Diagnostics, d *draft) {
	var consumer *event
	for _, t := range d.topics {
		var first *event
		for _, e := range t.events {
			spec := e.keySpec()
			if spec == nil || e.model.Key == nil || e.model.Key.Offset || len(e.model.Key.Parts) != len(spec.Source) {
				continue
			}
			switch reach(spec) {
			case 2:
				checkAlike(report, &first, e)
			case 1:
				checkAlike(report, &consumer, e)
			}
		}
	}
}

func checkAlike(report *schema.Diagnostics, first **event, e *event) {
	if *first == nil {
		*first = e
		return
	}
	spec := e.keySpec()
	if (*first).model.Key.SamePartition != e.model.Key.SamePartition {
		report.Add(spec.UniquePer.Pos, "E510", fmt.Sprintf("unique_per: %s needs one place for all keys; event %s says copies: %s, %s says %s",
			spec.UniquePer.Value, quote((*first).spec.Name.Value), copies((*first).model.Key), quote(e.spec.Name.Value), copies(e.model.Key)), "give both the same copies, or use unique_per: event")
	}
	a, b := partsText((*first).model.Key.Parts), partsText(e.model.Key.Parts)
	if a == b {
		return
	}
	report.Add(spec.UniquePer.Pos, "E510", fmt.Sprintf("unique_per: %s needs keys of the same parts; event %s has %s, %s has %s",
		spec.UniquePer.Value, quote((*first).spec.Name.Value), a, quote(e.spec.Name.Value), b), "give both the same parts, of the same names and types, or use unique_per: event")
}

func copies(k *model.IdempotencyKey) string {
	if k.SamePartition {
		return "same_partition"
	}
	return "anywhere"
}
