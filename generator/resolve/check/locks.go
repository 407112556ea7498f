package check

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkLocks reports locks of one name that would never meet: they are in two stores, or are told
// by more values here than there (E814).
func checkLocks(report *schema.Diagnostics, d *draft.Service) {
	first := map[string]*draft.Event{}
	for _, e := range d.Events() {
		m, spec := e.Model.Effect, e.Spec.Lock
		if m == nil || m.Lock == nil || spec.Broken || len(m.Lock.By) != len(spec.By.Items) {
			continue
		}
		o := first[m.Lock.Name]
		if o == nil {
			first[m.Lock.Name] = e
			continue
		}
		other := o.Model.Effect
		line := o.Spec.Lock.Name.Pos.From(spec.Name.Pos)
		switch name := wording.Quote(m.Lock.Name); {
		case m.Redis != other.Redis:
			report.Add(spec.Name.Pos, "E814", fmt.Sprintf("lock %s of %s is in %s, and that of %s in %s, so that they never meet", name, e.Is(), storeOf(m.Redis), o.Is(), storeOf(other.Redis)),
				"give both effects one store, or the locks two names; the other one is on "+line)
		case len(m.Lock.By) != len(other.Lock.By):
			report.Add(spec.By.Pos, "E814", fmt.Sprintf("lock %s is told by %d values for %s, and by %d for %s, so that they never meet", name, len(m.Lock.By), e.Is(), len(other.Lock.By), o.Is()),
				"name the same things in both, in one order, or give the locks two names; the other one is on "+line)
		}
	}
}

func storeOf(redis bool) string {
	if redis {
		return "Redis"
	}
	return "Postgres"
}
