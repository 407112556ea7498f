package check

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkLocks reports locks of one name that would never meet: they are in two stores, or are told
// by more values here than there (E814).
func checkLocks(report *syntax.Diagnostics, d *draft.Service) {
	first := map[string]*draft.Event{}
	for _, e := range d.Events() {
		if e.Model.Effect == nil || e.Model.Effect.Lock == nil {
			continue
		}
		is, spec := e.Model.Effect.Lock, e.Spec.Effect.Lock
		if len(is.By) != len(spec.By.Items) {
			continue
		}
		o := first[is.Name]
		if o == nil {
			first[is.Name] = e
			continue
		}
		other := o.Model.Effect.Lock
		line := o.Spec.Effect.Lock.Name.Pos.OnLine()
		switch name := wording.Quote(is.Name); {
		case len(is.By) != len(other.By):
			report.Add(spec.Name.Pos, "E814", fmt.Sprintf("lock %s has %d values for %s and %d for %s, so they never exclude each other", name, len(is.By), e.Is(), len(other.By), o.Is()),
				"list the same values in both, in the same order, or give the locks different names; the other one is on "+line)
		}
	}
}
