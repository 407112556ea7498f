// Package check holds the static checks of a draft: the rules that need more than one place of
// the spec. A check is a file of its own and a line of [checks].
//
// A check reads the draft, reports, and changes nothing; none needs another one. What it
// concluded from a part that was refused could be wrong, so it leaves such parts out.
//
// The package must not import package resolve, which fills the draft.
package check

import (
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// checks are all checks of a draft. Their order means nothing: problems are sorted.
var checks = []func(report *schema.Diagnostics, d *draft.Service){
	// names
	checkPackageNames, checkTopicNames, checkTopicsOnce, checkPlanNames, checkTableNames, checkFieldNames, checkDatabaseNames,
	// idempotency keys
	everyTopic(checkPromiseIsNeeded), checkProducerCopies, everyEvent(checkCopies), everyEvent(checkWindow),
	// steps
	checkStepOrder, checkOrder, checkTooEarly, checkShared, checkSums, checkCreatedAgain,
	// effects
	checkLocks,
	// fields
	checkUnused, checkExtents, everyWholeStep(checkPatches),
}

// Run reports what the checks find in a draft.
func Run(report *schema.Diagnostics, d *draft.Service) {
	for _, check := range checks {
		check(report, d)
	}
}

func everyTopic(check func(*schema.Diagnostics, *draft.Topic)) func(*schema.Diagnostics, *draft.Service) {
	return func(report *schema.Diagnostics, d *draft.Service) {
		for _, t := range d.Topics {
			check(report, t)
		}
	}
}

func everyEvent(check func(*schema.Diagnostics, *draft.Event)) func(*schema.Diagnostics, *draft.Service) {
	return func(report *schema.Diagnostics, d *draft.Service) {
		for _, e := range d.Events() {
			check(report, e)
		}
	}
}

func everyWholeStep(check func(*schema.Diagnostics, *draft.Step)) func(*schema.Diagnostics, *draft.Service) {
	return func(report *schema.Diagnostics, d *draft.Service) {
		for _, st := range d.Steps() {
			if st.Whole {
				check(report, st)
			}
		}
	}
}
