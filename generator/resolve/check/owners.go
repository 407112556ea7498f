package check

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkOwners reports owners of tables that are no consumer of the run, where one of it is meant:
// the first name of a consumer that has another one today (E606), or almost its name (W912). No
// migration is written for such a table. Other owners are services that the run does not know.
func checkOwners(run []Reported) {
	today, names := map[string]string{}, []string(nil)
	known := map[string]bool{}
	for _, r := range run {
		if c := r.Draft.Spec.Consumer; c != nil {
			names = append(names, c.Value)
			known[c.Value] = true
			if first := r.Draft.Spec.RenamedFrom; first != nil {
				today[first.Value] = c.Value
			}
		}
	}
	for _, r := range run {
		for _, t := range r.Draft.Tables.Kept() {
			owner := t.Spec.Owner
			if owner == nil || known[owner.Value] {
				continue
			}
			table := wording.Quote(t.Spec.Name.Value)
			if now := today[owner.Value]; now != "" {
				r.Report.Add(owner.Pos, "E606", fmt.Sprintf("table %s would be made by nobody: its owner %s is called %s today", table, wording.Quote(owner.Value), wording.Quote(now)),
					"write owner: "+now)
			} else if near := schema.Closest(owner.Value, names); near != "" {
				r.Report.Add(owner.Pos, "W912", fmt.Sprintf("table %s belongs to %s, which is no consumer of this run: no migration makes it here", table, wording.Quote(owner.Value)),
					fmt.Sprintf("did you mean %s? If it is another service, give its spec to the run, too", wording.Quote(near)))
			}
		}
	}
}
