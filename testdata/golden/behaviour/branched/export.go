// This file is written by hand: what the tests of package gocode call.

package branched

import "github.com/idemgen/idemgen/runtime/wire"

// NewPlan returns a plan of a topic: branches, joined or replaced.
func NewPlan(topic string) wire.Plan {
	switch topic {
	case "branches":
		return branchesTopic().NewPlan()
	case "joined":
		return joinedTopic().NewPlan()
	}
	return replacedTopic().NewPlan()
}
