// This file is written by hand: what the tests of package gocode call.

package branched

import "github.com/idemgen/idemgen/runtime/wire"

// NewPlan returns a plan of a topic: branches or replaced.
func NewPlan(topic string) wire.Plan {
	if topic == "branches" {
		return branchesTopic().NewPlan()
	}
	return replacedTopic().NewPlan()
}
