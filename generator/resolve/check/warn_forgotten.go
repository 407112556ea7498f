package check

import (
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// warnForgotten warns of an effect that must never be called twice, and whose leases are where
// they may be lost (W913).
func warnForgotten(report *schema.Diagnostics, e *draft.Event) {
	if m := e.Model.Effect; m != nil && m.Redis && m.Interrupts {
		report.Warn(e.Accept(), e.Spec.Effect.Store.Key, "W913",
			e.Is()+" must never call twice (if_interrupted: dead_letter), and a Redis that lost its data has it called again",
			"store: postgres forgets nothing that was acknowledged; or if_interrupted: retry, with the event's key passed to the other side")
	}
}
