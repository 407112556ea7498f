package resolve

import (
	"fmt"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// keepWithoutWindow is how long a dead letter stays open if its key has no window.
const keepWithoutWindow = 30 * 24 * time.Hour

// resolveKeep fills in how long dead letters stay open where the spec does not say it: as
// long as a second copy of the event is recognised.
func (t *topic) resolveKeep() {
	fill := func(keep *time.Duration, key *schema.IdempotencyKey) {
		if *keep == 0 {
			*keep = keepWithoutWindow
			if key != nil && key.Window != nil {
				*keep = key.Window.Value
			}
		}
	}
	fill(&t.model.OnFailure.Keep, t.spec.IdempotencyKey)
	for _, e := range t.events {
		fill(&e.model.OnFailure.Keep, e.keySpec())
	}
}

// checkWindows reports windows that end before the last copy that is sure to come: a dead
// letter that is sent again, or a record that is read again (E509).
func (r *resolver) checkWindows(t *topic) {
	seen := map[schema.Pos]map[string]bool{}
	for _, e := range t.events {
		key := e.keySpec()
		if key == nil || key.Window == nil {
			continue
		}
		window := key.Window
		fail := func(message, hint string) {
			if seen[window.Pos] == nil {
				seen[window.Pos] = map[string]bool{}
			}
			if !seen[window.Pos][message] { // the key of the topic is one place for many events
				seen[window.Pos][message] = true
				r.fail(window.Pos, "E509", message, hint)
			}
		}
		if keep := e.model.OnFailure.Keep; keep > window.Value && e.model.OnFailure.GiveUp != "stop" {
			fail(fmt.Sprintf("window %s is shorter than the %s for which dead letters are kept: a late replay would not be recognised", model.DurationText(window.Value), model.DurationText(keep)),
				"raise window or lower on_failure.keep")
		}
		if a := t.spec.Assume; a != nil && a.Retention != nil && a.Retention.Value > window.Value {
			fail(fmt.Sprintf("window %s is shorter than the topic's retention %s: reading the topic again would apply old events twice", model.DurationText(window.Value), model.DurationText(a.Retention.Value)),
				"use at least the retention plus one day")
		}
	}
}
