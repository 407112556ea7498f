package check

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// checkWindow reports windows that end before the last copy that is sure to come: a dead
// letter that is sent again, or a record that is read again (E509).
func checkWindow(report *schema.Diagnostics, e *draft.Event) {
	key := e.KeySpec()
	if key == nil || key.Window == nil {
		return
	}
	window := key.Window
	if keep := e.Model.OnFailure.Keep; keep > window.Value && e.Model.OnFailure.GiveUp != "stop" {
		report.Add(window.Pos, "E509", fmt.Sprintf("window %s is shorter than the %s for which dead letters are kept: a late replay would not be recognised", model.DurationText(window.Value), model.DurationText(keep)),
			"raise window or lower on_failure.keep")
	}
	if a := e.Topic.Spec.Assume; a != nil && a.Retention != nil && a.Retention.Value > window.Value {
		report.Add(window.Pos, "E509", fmt.Sprintf("window %s is shorter than the topic's retention %s: reading the topic again would apply old events twice", model.DurationText(window.Value), model.DurationText(a.Retention.Value)),
			"use at least the retention plus one day")
	}
}
