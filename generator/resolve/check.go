package resolve

import "github.com/idemgen/idemgen/schema"

// checks are the static checks of a draft. A check is a file of its own. It reads the draft,
// reports, and changes nothing; none needs another one. What it concludes from a part that was
// refused would be wrong, so it leaves such parts out.
var checks = []func(report *schema.Diagnostics, d *draft){
	// names
	checkPackageNames, checkTopicNames, checkPlanNames, checkTableNames, checkFieldNames, checkDatabaseNames,
	// idempotency keys
	everyTopic(checkPromiseIsNeeded), everyEvent(checkProducerCopies), everyEvent(checkCopies), everyEvent(checkWindow), checkKeysAlike,
	// steps
	everyEvent(checkHalfApplied), checkStepOrder, checkOrder, checkShared, checkCreatedAgain,
	// fields
	checkUnused, checkExtents,
	// warnings
	everyTopic(warnSkipped), warnCompare, everyWholeStep(warnGuard), everyWholeStep(warnUnique), warnParents,
}

func everyTopic(check func(*schema.Diagnostics, *topic)) func(*schema.Diagnostics, *draft) {
	return func(report *schema.Diagnostics, d *draft) {
		for _, t := range d.topics {
			check(report, t)
		}
	}
}

func everyEvent(check func(*schema.Diagnostics, *event)) func(*schema.Diagnostics, *draft) {
	return func(report *schema.Diagnostics, d *draft) {
		for _, e := range d.events() {
			check(report, e)
		}
	}
}

func everyWholeStep(check func(*schema.Diagnostics, *step)) func(*schema.Diagnostics, *draft) {
	return func(report *schema.Diagnostics, d *draft) {
		for _, st := range d.steps() {
			if st.whole {
				check(report, st)
			}
		}
	}
}
