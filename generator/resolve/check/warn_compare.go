package check

import (
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// warnCompare warns of keys whose events are not compared (W903).
func warnCompare(report *schema.Diagnostics, d *draft.Service) {
	warn := func(k *schema.IdempotencyKey, accept [][]schema.Accepted) {
		if k != nil && k.Compare != nil && k.Compare.Word != nil && k.Compare.Word.Value == "nothing" {
			report.Warn(accept, k.Compare.Pos, "W903", "compare: nothing: a producer bug that reuses keys goes unnoticed", "list the fields that all copies of an event have in common: compare: [a, b]")
		}
	}
	for _, t := range d.Topics {
		warn(t.Spec.IdempotencyKey, t.Accept())
		for _, e := range t.Events {
			warn(e.Spec.IdempotencyKey, e.Accept())
		}
	}
}
