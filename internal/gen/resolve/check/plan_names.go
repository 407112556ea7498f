package check

import (
	"strings"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/waves"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkPlanNames reports events and steps that become one field or method of a plan, or one
// constant of the package: the add method, the rows and the statement of every step are
// named after the event, and [nameSteps] joins words that may come apart in two ways.
func checkPlanNames(report *syntax.Diagnostics, d *draft.Service) {
	statements := newGoNames(report)
	statements.fold = strings.ToLower
	plans, added := map[*draft.Topic]*goNames{}, map[string]bool{}
	for _, e := range d.NamedEvents() {
		plan := plans[e.Topic]
		if plan == nil {
			plan = newGoNames(report)
			plan.fold = strings.ToLower
			plans[e.Topic] = plan
		}
		plan.add(e.Model.GoName, goNameUse{what: e.InTopic(), pos: e.Spec.Name.Pos})
		if method := plan.key("Add" + e.Model.GoName); !added[method] { // of two alike the events are reported
			added[method] = true
			plan.add("Add"+e.Model.GoName, goNameUse{what: "the add method of " + e.InTopic(), pos: e.Spec.Name.Pos})
		}
		named := map[string]bool{} // of several such steps nameSteps tells apart
		for _, st := range e.Steps {
			if st.Table == nil || named[waves.StepName(st.Model)] {
				continue
			}
			name := waves.StepName(st.Model)
			named[name] = true
			use := goNameUse{what: st.Is() + " in " + e.InTopic(), pos: st.Spec.Verb.Pos, fix: "give the event another name"}
			plan.add(name, use)
			statements.add(name, use) // where both refuse, the two problems are one
		}
	}
}
