package check

import (
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// warnSkipped warns of a topic that passes over every type that it does not know (W908).
func warnSkipped(report *schema.Diagnostics, t *draft.Topic) {
	u := t.Spec.Unhandled
	if u != nil && u.UnknownType != nil && u.UnknownType.Value == "skip" && t.Spec.EventType != nil && (t.Spec.Ignore == nil || len(t.Spec.Ignore.Items) == 0) {
		report.Warn(t.Accept(), u.UnknownType.Pos, "W908", "unknown_type: skip without an ignore list: a new type would be passed over unseen",
			"list the types that mean nothing here under ignore, and keep unknown_type: dead_letter")
	}
}
