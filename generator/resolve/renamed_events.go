package resolve

import (
	"slices"

	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// renamedEvents checks the first names of the consumer, of topics and of events (E609), and that
// keys are where they are looked for under the new name (E411).
func renamedEvents(report *schema.Diagnostics, spec *schema.Spec) {
	if from := spec.RenamedFrom; from != nil && spec.Consumer != nil {
		formerName(report, *from, "consumer", spec.Consumer.Value, false, map[string]string{})
	}
	topics := map[string]string{}
	for _, t := range spec.Topics {
		if from := t.Doc.RenamedFrom; from != nil {
			there := slices.ContainsFunc(spec.Topics, func(o *schema.Topic) bool { return o.Name.Value == from.Value })
			if formerName(report, *from, "topic", t.Name.Value, there, topics) {
				checkKeysFollow(report, t)
			}
		}
		events := map[string]string{}
		for _, e := range t.Events {
			if from := e.Doc.RenamedFrom; from != nil {
				there := slices.ContainsFunc(t.Events, func(o *schema.Event) bool { return o.Name.Value == from.Value })
				formerName(report, *from, "event", e.Name.Value, there, events)
			}
		}
	}
}

// checkKeysFollow refuses keys in the ledger of a topic that has another name now.
func checkKeysFollow(report *schema.Diagnostics, t *schema.Topic) {
	keys := []*schema.IdempotencyKey{t.IdempotencyKey}
	for _, e := range t.Events {
		keys = append(keys, e.IdempotencyKey)
	}
	for _, k := range keys {
		if k != nil && k.Copies != nil && k.Copies.Value == "same_partition" {
			report.Add(k.Copies.Pos, "E411", "copies: same_partition is not proven: topic "+wording.Quote(t.Name.Value)+" was "+wording.Quote(t.Doc.RenamedFrom.Value)+", and the keys of its events are in the ledger of that topic",
				"use copies: anywhere; or drop renamed_from: copies of events of the earlier topic are new events then")
		}
	}
}
