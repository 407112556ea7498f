// Package check holds the static checks of a draft: the rules that need more than one place of
// the spec. A check is a file of its own and a line of [checks].
//
// A check reads the draft, reports, and changes nothing; none needs another one. What it
// concluded from a part that was refused could be wrong, so it leaves such parts out.
//
// It must not import any package of this module but draft, goname, model, syntax, waves and
// wording.
package check

import (
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checks are all checks of a draft. Their order means nothing: problems are sorted.
var checks = []func(report *syntax.Diagnostics, d *draft.Service){
	// names
	checkPackageNames, checkTopicNames, checkTopicsOnce, checkPlanNames, checkTableNames, checkFieldNames, checkDatabaseNames,
	// idempotency keys
	everyTopic(checkPromiseIsNeeded), checkProducerCopies, everyEvent(checkCopies), everyEvent(checkWindow),
	// steps
	checkStepOrder, checkOrder, checkTooEarly, checkShared, checkSums, checkCreatedAgain,
	// effects
	checkLocks,
	// fields
	checkUnused, checkExtents, everyTopic(checkHeaders), everyWholeStep(checkPatches),
}

// Run reports what the checks find in a draft.
func Run(report *syntax.Diagnostics, d *draft.Service) {
	for _, check := range checks {
		check(report, d)
	}
}

func everyTopic(check func(*syntax.Diagnostics, *draft.Topic)) func(*syntax.Diagnostics, *draft.Service) {
	return func(report *syntax.Diagnostics, d *draft.Service) {
		for _, t := range d.Topics {
			check(report, t)
		}
	}
}

func everyEvent(check func(*syntax.Diagnostics, *draft.Event)) func(*syntax.Diagnostics, *draft.Service) {
	return func(report *syntax.Diagnostics, d *draft.Service) {
		for _, e := range d.Events() {
			check(report, e)
		}
	}
}

func everyWholeStep(check func(*syntax.Diagnostics, *draft.Step)) func(*syntax.Diagnostics, *draft.Service) {
	return func(report *syntax.Diagnostics, d *draft.Service) {
		for _, st := range d.Steps() {
			if st.Whole {
				check(report, st)
			}
		}
	}
}
