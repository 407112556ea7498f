package resolve

import "github.com/idemgen/idemgen/schema"

// checkPlanNames reports events and steps that become one field or method of a plan, or one
// constant of the package: the add method, the rows and the statement of every step are
// named after the event, and [nameSteps] joins words that may come apart in two ways.
func checkPlanNames(report *schema.Diagnostics, d *draft) {
	statements := newGoNames(report)
	statements.fold = true
	plans, added := map[*topic]*goNames{}, map[string]bool{}
	for _, e := range d.namedEvents() {
		plan := plans[e.topic]
		if plan == nil {
			plan = newGoNames(report)
			plan.fold = true
			plans[e.topic] = plan
		}
		plan.add(e.model.GoName, goNameUse{what: e.inTopic(), pos: e.spec.Name.Pos})
		if method := plan.key("Add" + e.model.GoName); !added[method] { // of two alike the events are reported
			added[method] = true
			plan.add("Add"+e.model.GoName, goNameUse{what: "the add method of " + e.inTopic(), pos: e.spec.Name.Pos})
		}
		named := map[string]bool{} // of several such steps nameSteps tells apart
		for _, st := range e.steps {
			if st.table == nil || named[stepName(st.model)] {
				continue
			}
			name := stepName(st.model)
			named[name] = true
			use := goNameUse{what: st.is() + " in " + e.inTopic(), pos: st.spec.Verb.Pos, fix: "set go_name on an event or a table"}
			plan.add(name, use)
			statements.add(name, use) // where both refuse, the two problems are one
		}
	}
}
