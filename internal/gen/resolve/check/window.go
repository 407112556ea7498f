package check

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkWindow reports windows that end before the last copy that may come: a dead letter that is
// sent again (E509).
func checkWindow(report *syntax.Diagnostics, e *draft.Event) {
	key := e.KeySpec()
	if key == nil || key.Window == nil {
		return
	}
	window := key.Window
	if keep := e.Model.OnFailure.Keep; keep > window.Value && e.Model.OnFailure.GiveUp != "stop" {
		report.Add(window.Pos, "E509", fmt.Sprintf("window %s is shorter than the %s for which dead letters are kept: a late replay would not be recognized as a duplicate", model.DurationText(window.Value), model.DurationText(keep)),
			"raise window or lower on_failure.keep")
	}
}
