package resolve

import (
	"time"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// keepWithoutWindow is how long a dead letter stays open if its key has no window.
const keepWithoutWindow = 30 * 24 * time.Hour

// resolveKeep fills in how long dead letters stay open where the spec does not say it: as
// long as a second copy of the event is recognized.
func resolveKeep(t *draft.Topic) {
	fill := func(keep *time.Duration, key *syntax.IdempotencyKey) {
		if *keep == 0 {
			*keep = keepWithoutWindow
			if key != nil && key.Window != nil {
				*keep = key.Window.Value
			}
		}
	}
	fill(&t.Model.OnFailure.Keep, t.Spec.IdempotencyKey)
	for _, e := range t.Events {
		fill(&e.Model.OnFailure.Keep, e.KeySpec())
		if own := e.Spec.IdempotencyKey; own != nil && own.Window != nil {
			e.Model.OnFailure.Keep = min(e.Model.OnFailure.Keep, own.Window.Value)
		}
	}
}
